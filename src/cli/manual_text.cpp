// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "cli/manual_text.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

namespace ratchet::cli {

namespace {

/// Text as man(7) wants it: a backslash is doubled, a dash is a real one, and no line begins with a control
/// character.
std::string escaped(std::string_view text) {
  std::string out;
  bool line_start = true;
  for (const char c : text) {
    if (line_start && (c == '.' || c == '\'')) out += "\\&";
    line_start = c == '\n';
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

/// Visible subcommands in the order in which they were added.
std::vector<const CLI::App*> commands_of(const CLI::App& root) {
  return root.get_subcommands([](const CLI::App* c) { return !c->get_group().empty(); });
}

std::vector<const CLI::Option*> options_of(const CLI::App& command) {
  return command.get_options([](const CLI::Option* o) { return !o->get_group().empty(); });
}

std::vector<std::string> spellings(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& s : option.get_snames()) names.push_back("-" + s);
  for (const std::string& l : option.get_lnames()) names.push_back("--" + l);
  return names;
}

bool takes_value(const CLI::Option& option) {
  return option.get_items_expected_max() > 0;
}

/// The values of an option with a fixed set of them; CLI11 describes such a set as {a,b,c}.
std::vector<std::string> choices(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t open = type.find('{');
  const std::size_t close = type.find('}');
  if (open == std::string::npos || close == std::string::npos) return {};
  return CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
}

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string text;
  for (const std::string& w : words) text += (text.empty() ? "" : std::string{between}) + w;
  return text;
}

std::string value_name(const CLI::Option& option) {
  const auto set = choices(option);
  if (!set.empty()) return joined(set, "|");
  return option.get_type_name();
}

/// The command with those that it is a part of, as in `waiting list`.
std::string path_of(const CLI::App& command) {
  const CLI::App* above = command.get_parent();
  if (above == nullptr || above->get_parent() == nullptr) return command.get_name();
  return path_of(*above) + " " + command.get_name();
}

/// Options first, then what stands by itself, as in `get [OPTION]... STREAM AGGREGATE`. One line for each
/// command that a command consists of.
std::string synopsis(const CLI::App& command) {
  std::string text;
  for (const CLI::App* c : commands_of(command)) text += (text.empty() ? "" : "\n.br\n") + synopsis(*c);
  if (!text.empty()) return text;
  text = "\\fBratchet " + escaped(path_of(command)) + "\\fR [\\fIOPTION\\fR]...";
  for (const CLI::Option* o : options_of(command)) {
    if (!o->get_positional()) continue;
    const std::string name = "\\fI" + escaped(o->get_name(true)) + "\\fR";
    text += o->get_required() ? " " + name : " [" + name + "]";
    if (o->get_items_expected_max() > 1) text += "...";
  }
  return text;
}

std::string option_entry(const CLI::Option& option) {
  std::string text = ".TP\n";
  if (option.get_positional()) {
    text += "\\fI" + escaped(option.get_name(true)) + "\\fR";
  } else {
    text += "\\fB" + escaped(joined(spellings(option), ", ")) + "\\fR";
    if (takes_value(option)) text += " \\fI" + escaped(value_name(option)) + "\\fR";
  }
  return text + "\n" + escaped(option.get_description()) + "\n";
}

std::string command_section(const CLI::App& command) {
  std::string text = ".SS " + escaped(path_of(command)) + "\n" + synopsis(command) + "\n.PP\n" +
                     escaped(command.get_description()) + ".\n";
  for (const CLI::Option* o : options_of(command)) text += option_entry(*o);
  if (!command.get_footer().empty()) text += ".PP\n.nf\n" + escaped(command.get_footer()) + "\n.fi\n";
  for (const CLI::App* c : commands_of(command)) text += command_section(*c);
  return text;
}

[[nodiscard]] bool spells_stream(const CLI::Option& option) {
  const auto names = spellings(option);
  return std::find(names.begin(), names.end(), "--stream") != names.end();
}

/// The names of streams, which the config has that the line names; nothing behind one that was typed.
constexpr const char* k_streams_function = R"(_ratchet_streams() {
  local i word name config=${RATCHET_CONFIG-} names
  for ((i = 1; i < COMP_CWORD; ++i)); do
    [[ ${COMP_WORDS[i]} == -c || ${COMP_WORDS[i]} == --config ]] && config=${COMP_WORDS[i + 1]/#\~/$HOME}
  done
  [[ -r $config ]] || return 0
  names=$("${COMP_WORDS[0]}" validate -c "$config" --output json 2>/dev/null | grep -oE '"name":"[A-Za-z0-9._-]+"' | cut -d'"' -f4) || return 0
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    for name in $names; do [[ $word == "$name" ]] && return; done
  done
  echo "$names"
}
)";

/// A `case` in the script: what may stand behind this command. One for each command that a command consists
/// of, told by the two words together.
std::string completion_case(const CLI::App& command) {
  std::vector<std::string> words;
  std::string values;
  std::string parts;
  for (const CLI::App* c : commands_of(command)) {
    words.push_back(c->get_name());
    parts += completion_case(*c);
  }
  if (!parts.empty()) {
    return parts + "    '" + path_of(command) + " '*) words='" + joined(words, " ") + " --help' ;;\n";
  }
  for (const CLI::Option* o : options_of(command)) {
    const auto names = spellings(*o);
    words.insert(words.end(), names.begin(), names.end());
    const auto set = choices(*o);
    if (!set.empty() && !names.empty()) {
      values += "        " + joined(names, "|") + ") words='" + joined(set, " ") + "' ;;\n";
    }
  }
  bool takes_stream = false;
  for (const CLI::Option* o : options_of(command)) {
    const bool is_stream = o->get_positional() && o->get_name(true) == "STREAM";
    takes_stream = takes_stream || is_stream;
    if (spells_stream(*o)) values += "        -S|--stream) words=$(_ratchet_streams) ;;\n";
  }
  std::string text = "    '" + path_of(command) + " '*)\n      case $previous in\n" + values;
  text += "        -c|--config) ;;\n        *)\n          if [[ $current == -* ]]; then words='" +
          joined(words, " ") + "'";
  text += takes_stream ? "; else words=$(_ratchet_streams)" : "";
  text += "; fi\n          ;;\n      esac\n      ;;\n";
  return text;
}

}  // namespace

std::string manual_page(const CLI::App& root, const std::string& version) {
  std::string text = ".TH RATCHET 1 \"\" \"ratchet " + escaped(version) +
                     "\" \"User Commands\"\n"
                     ".SH NAME\nratchet \\- from a Kafka topic to state that is right\n.SH SYNOPSIS\n";
  for (const CLI::App* c : commands_of(root)) text += synopsis(*c) + "\n.br\n";
  text +=
      ".SH DESCRIPTION\n" + escaped(root.get_description()) +
      "\nKafka delivers at least once. Ratchet applies every event once, in the order of its aggregate: the "
      "state, the\nmemory of what was handled and the position in Kafka change together, in one atomic "
      "write.\n"
      ".SH COMMANDS\n";
  for (const CLI::App* c : commands_of(root)) text += command_section(*c);
  text +=
      ".SH EXIT STATUS\n.TP\n0\nok\n.TP\n1\na check failed: a partition is stopped, nothing was found\n"
      ".TP\n64\nthe command line is wrong\n.TP\n69\nunavailable: no broker answers\n.TP\n70\nan error of "
      "ratchet's own\n"
      ".TP\n74\na file or a disk failed\n.TP\n78\nthe config, or the state directory does not fit\n"
      ".SH ENVIRONMENT\n.TP\nNO_COLOR\nif it is set, logs have no colour\n"
      ".SH SEE ALSO\nkcat(1)\n";
  return text;
}

std::string bash_completion(const CLI::App& root) {
  std::vector<std::string> names;
  std::string cases;
  for (const CLI::App* c : commands_of(root)) {
    names.push_back(c->get_name());
    cases += completion_case(*c);
  }
  return std::string{"# bash completion for ratchet\n"} + k_streams_function +
         "_ratchet() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} words=\n"
         "  if ((COMP_CWORD == 1)); then\n"
         "    COMPREPLY=($(compgen -W '" +
         joined(names, " ") +
         " --help --version' -- \"$current\"))\n"
         "    return\n"
         "  fi\n"
         "  case \"${COMP_WORDS[*]:1:COMP_CWORD-1} \" in\n" +
         cases +
         "  esac\n"
         "  # No words: bash goes on with the names of files.\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "}\n"
         "complete -o default -F _ratchet ratchet\n";
}

}  // namespace ratchet::cli
