// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.Arrays;
import java.util.UUID;

/** What is needed of a payment's event, read by Jackson's streaming parser. */
final class Event {
  private static final JsonFactory FACTORY = new JsonFactory();

  UUID id;
  String aggregate;
  long sequence;
  /** The member `payment`, byte for byte. */
  byte[] snapshot;

  /** Null: it is no such event. */
  static Event parse(byte[] value) {
    Event e = new Event();
    try (JsonParser parser = FACTORY.createParser(value)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) return null;
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        String name = parser.currentName();
        JsonToken token = parser.nextToken();
        switch (name) {
          case "id" -> e.id = UUID.fromString(parser.getText());
          case "sequence" -> e.sequence = parser.getLongValue();
          case "payment" -> e.readPayment(parser, value);
          default -> {
            if (token.isStructStart()) parser.skipChildren();
          }
        }
      }
    } catch (IOException | IllegalArgumentException notAnEvent) {
      return null;
    }
    return e.id == null || e.aggregate == null ? null : e;
  }

  private void readPayment(JsonParser parser, byte[] value) throws IOException {
    int from = (int) parser.currentTokenLocation().getByteOffset();
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      String name = parser.currentName();
      JsonToken token = parser.nextToken();
      if (name.equals("id")) aggregate = parser.getText();
      if (token.isStructStart()) parser.skipChildren();
    }
    snapshot = Arrays.copyOfRange(value, from, (int) parser.currentLocation().getByteOffset());
  }
}
