/* Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
 *
 * The replicated log (docs/internals/replicated-log.md): one slot, three instances, a fenced log without transactions. Promela,
 * for spin 6.5; `check_log` runs it, and says what each run must give. The names are those of src/replicate.
 *
 * THE LOG IS FOLDED AS IT GROWS. Whether a record counts is a function of what lies before it in the log. So the model keeps
 * only the reader's state (log_epoch, log_writer, fenced_step, last_step, held: a step without its last part) and not the
 * records; "the reader of the prefix up to f" is that state at the moment when f was appended. A step is an id 1..steps;
 * before[] is the step that it was made on, so an id names a whole chain (the chain hash); number[] is its number.
 * before[x] < x always, which makes ANC() a walk.
 * UNDER WAY: a producer is a queue (sent_epoch, sent_step) that lands one record at a time, any time later. One that was made
 * anew or died leaves a queue (late_epoch, late_step) that still lands, or loses any end of it.
 * THE GROUP (classic, eager): generation, and which incarnation of the group it belongs to (deletion). An instance that waits is
 * a member; one of them gets the slot; everybody else who thinks to own it is a zombie from that moment. No action is ever
 * forced: everybody may pause.
 * AN INSTANCE: made = the last step that it has made or read (pending rows included); confirmed = the last step in its store;
 * on_disk = the last step that a power cut leaves.
 *
 * Where it is simpler than the code: a writer is an instance, where the code draws one for each fence. An owner that has
 * acknowledgements looks at the log itself, where the code reads only where offsets have a gap. A fence does not fail for good.
 *
 * Faults, each by an option: DEL (the group is deleted, generations restart), REGRESS (the coordinator loses its newest
 * generation), PERMFAIL (a record fails for good, later ones of the producer land), ANEW (an owner gives its
 * attempt up: its producer is made anew, and it fences again in one assignment). CHUNK: a step is two records.
 * Mutants: M_CONFIRM_BY_ACKNOWLEDGEMENT, M_ZOMBIES_COUNT, M_ZOMBIE_FENCE_COUNTS, M_STORE_AHEAD, M_NO_ATTEMPT, M_STOPS_AT_A_GAP,
 * M_LEADS_UNREAD, M_KEEPS_MADE_STEPS.
 */
#ifndef MAXG
#define MAXG 4      /* generations in all */
#endif
#ifndef MAXID
#define MAXID 4     /* steps ever made */
#endif
#ifndef CRASH
#define CRASH 1     /* kills and power cuts in all */
#endif
#ifndef BOUND
#define BOUND 2     /* unconfirmed steps of an owner at most */
#endif
#ifndef Q
#ifdef CHUNK
#define Q 5
#else
#define Q 3
#endif
#endif
#ifndef FAULTS
#define FAULTS 1    /* PERMFAIL, ANEW, REGRESS, DEL each at most so often */
#endif
#define NONE 3
/* instance states */
#define DOWN 0      /* crashed */
#define STANDBY 1      /* standby; waits in the group */
#define MUST_FENCE 2      /* was given the slot, has not fenced */
#define FENCING 3      /* fence is under way */
#define LEADING 4
#define LATE 5      /* found out that it is late; waits for the notice */
byte before[MAXID+1]; byte number[MAXID+1]; byte steps;
byte log_epoch; byte log_writer = NONE; byte last_step; byte held; byte fenced_step;
byte generation; byte owner = NONE; byte generations; byte used; byte crashes; byte faults; byte gone_back;
#if defined(DEL) || defined(REGRESS)
#define INC
byte group; byte member_of_group[3]; byte deleted;
#endif
byte phase[3]; byte member_of[3]; byte epoch[3];
byte made[3]; byte confirmed[3]; byte on_disk[3]; byte acknowledged[3]; byte landed[3];
byte step_at_fence[3]; bit fence_is_highest[3]; bit fence_landed[3];
#ifdef PERMFAIL
bit broken[3];
#endif
#ifdef REGRESS
byte owner_before = NONE;
#endif
byte sent[3]; byte sent_epoch[3*Q]; byte sent_step[3*Q];
byte late[3]; byte late_epoch[3*Q]; byte late_step[3*Q];

/* scratch of one d_step each: set before used */
hidden byte a_; hidden byte b_; hidden byte r_; hidden byte k_;
/* what an assertion is about */
hidden byte told_counts; hidden byte store_is_confirmed; hidden byte standby_is_a_prefix; hidden byte taken_is_a_prefix;
/* what a reader refuses (refusal in log_reader.hpp): a log that lost nothing never comes to it */
hidden byte fence_is_missing; hidden byte steps_are_lost; hidden byte chain_is_another;

#define ATT 4                       /* epoch = generation * ATT + attempt with ATTEMPT; term * 16 + generation with DEL */
/* r_ = (x is y or before it in its chain) */
#define ANC(x,y) a_ = y; do :: a_ > x -> a_ = before[a_] :: else -> break od; r_ = (a_ == x)
#define PUTQ(i,e,x) sent_epoch[i*Q+sent[i]] = e; sent_step[i*Q+sent[i]] = x; sent[i]++
#define LAST 16                     /* with CHUNK: the last record of a step is id + LAST */

/* orphans that are all below the log's epoch have no effect when they land: they go (fewer states) */
#define DEAD(m) if :: late[m] > 0 && late_epoch[m*Q+late[m]-1] < log_epoch -> do :: late[m] > 0 -> late[m]--; late_epoch[m*Q+late[m]] = 0; late_step[m*Q+late[m]] = 0 :: else -> break od; k_ = 0 :: else fi

#ifdef M_STOPS_AT_A_GAP
#define STOPS assert(false)
#else
#define STOPS skip
#endif
/* log_reader::take() of one record that reaches the log: epoch e, writer i, x = 0 a fence or a step */
inline take(i, e, x) {
  if
  :: x == 0 ->
#ifdef M_ZOMBIE_FENCE_COUNTS
     if :: e != log_epoch ->
#else
     if :: e > log_epoch ->
#endif
           log_epoch = e; log_writer = i; held = 0; fenced_step = number[last_step]; DEAD(0); DEAD(1); DEAD(2)
        :: else fi                                     /* zombie, again, rival */
  :: else ->
     k_ = x;
#ifdef CHUNK
     if :: x >= LAST -> k_ = x - LAST :: else fi;
#endif
     if
#ifdef M_ZOMBIES_COUNT
     :: e < log_epoch ->
        if :: number[k_] > number[last_step] && before[k_] == last_step -> last_step = k_ :: else fi
#else
     :: e < log_epoch                                         /* zombie */
#endif
     :: e > log_epoch -> fence_is_missing = true
     :: e == log_epoch && log_writer != i                             /* rival */
     :: e == log_epoch && log_writer == i ->
        steps_are_lost = (number[k_] <= fenced_step);
        if
        :: number[k_] <= number[last_step]                          /* again */
        :: number[k_] > number[last_step] + 1 -> STOPS              /* gap */
        :: number[k_] == number[last_step] + 1 ->
           chain_is_another = (before[k_] != last_step);
#ifdef CHUNK
           if
           :: x < LAST -> held = k_                      /* chunk, or again */
           :: x >= LAST && held == k_ -> last_step = k_; held = 0 /* step */
           :: x >= LAST && held != k_ -> STOPS           /* gap */
           fi
#else
           last_step = k_                                     /* step */
#endif
        fi
     fi;
     assert(!fence_is_missing); assert(!steps_are_lost); assert(!chain_is_another)
  fi
}

inline pop_sent(i) {
  k_ = 0; do :: k_ + 1 < sent[i] -> sent_epoch[i*Q+k_] = sent_epoch[i*Q+k_+1]; sent_step[i*Q+k_] = sent_step[i*Q+k_+1]; k_++ :: else -> break od;
  sent[i]--; sent_epoch[i*Q+sent[i]] = 0; sent_step[i*Q+sent[i]] = 0
}
inline pop_late(i) {
  k_ = 0; do :: k_ + 1 < late[i] -> late_epoch[i*Q+k_] = late_epoch[i*Q+k_+1]; late_step[i*Q+k_] = late_step[i*Q+k_+1]; k_++ :: else -> break od;
  late[i]--; late_epoch[i*Q+late[i]] = 0; late_step[i*Q+late[i]] = 0
}
/* the producer goes; what is under way may still land. Only where the orphan queue is empty (a bound of the model) */
inline orphan(i) {
  k_ = 0;
  do :: k_ < sent[i] -> late_epoch[i*Q+k_] = sent_epoch[i*Q+k_]; late_step[i*Q+k_] = sent_step[i*Q+k_]; sent_epoch[i*Q+k_] = 0; sent_step[i*Q+k_] = 0; k_++ :: else -> break od;
  late[i] = sent[i]; sent[i] = 0;
  DEAD(i)
}
/* log_owner::drop(): what was made and not confirmed is nobody's any more */
inline drop(i) {
  ANC(on_disk[i], confirmed[i]); store_is_confirmed = r_; assert(store_is_confirmed);
#ifdef M_STORE_AHEAD
  ANC(confirmed[i], on_disk[i]); if :: r_ -> made[i] = on_disk[i] :: else -> made[i] = confirmed[i] fi
#else
#ifndef M_KEEPS_MADE_STEPS
  made[i] = confirmed[i]
#endif
#endif
}
inline no_attempt(i) { step_at_fence[i] = 0; fence_is_highest[i] = 0; fence_landed[i] = 0; acknowledged[i] = 0; landed[i] = 0; epoch[i] = 0 }

/* is i a member of the group in its present generation? */
#ifdef INC
#define ISMEMBER(i) (member_of[i] != 0 && member_of[i] == generation && member_of_group[i] == group)
#else
#define ISMEMBER(i) (member_of[i] != 0 && member_of[i] == generation)
#endif
#define GENOF(e) ((e) / ATT)

/* what is not confirmed lives in memory alone; the store is a prefix, and a power cut leaves a shorter one */
#define POWERCUT(i) :: d_step { phase[i] == DOWN && confirmed[i] != on_disk[i] -> printf("%d: the store loses %d\n", i, confirmed[i]); confirmed[i] = before[confirmed[i]]; made[i] = confirmed[i] }
#define INSTANCE(i) \
 /* the group: a new generation, the slot is i's. Instances are alike: they are first used in order */ \
 :: d_step { phase[i] == STANDBY && generations < MAXG && i <= used -> printf("%d: assigned\n", i); \
      generations++; generation++; REG_NOTE owner = i; if :: i == used -> used++ :: else fi; \
      MEMBER_NOTE(0) MEMBER_NOTE(1) MEMBER_NOTE(2) \
      phase[i] = MUST_FENCE; no_attempt(i); epoch[i] = generation } \
 /* take-over (2): the epoch, then the fence */ \
 :: d_step { phase[i] == MUST_FENCE && sent[i] < Q -> printf("%d: sends its fence, log epoch %d\n", i, log_epoch); FENCE(i) } \
 /* its producer, and what is left of the one before */ \
 :: d_step { sent[i] > 0 -> printf("%d: lands epoch %d record %d\n", i, sent_epoch[i*Q], sent_step[i*Q]); \
      b_ = (phase[i] == FENCING && sent_step[i*Q] == 0 && sent_epoch[i*Q] == epoch[i]); \
      take(i, sent_epoch[i*Q], sent_step[i*Q]); \
      if :: b_ -> fence_landed[i] = 1; step_at_fence[i] = last_step; fence_is_highest[i] = (log_epoch == epoch[i] && log_writer == i) \
         :: else -> LANDED(i) fi; \
      pop_sent(i); b_ = 0 } \
 :: d_step { late[i] > 0 -> printf("%d: LATE RECORD lands epoch %d record %d\n", i, late_epoch[i*Q], late_step[i*Q]); take(i, late_epoch[i*Q], late_step[i*Q]); pop_late(i) } \
 :: d_step { late[i] > 0 -> printf("%d: in flight is lost\n", i); do :: late[i] > 0 -> pop_late(i) :: else -> break od; k_ = 0 } \
 /* take-over (3), (4) */ \
 :: d_step { phase[i] == FENCING && fence_landed[i] && late[i] == 0 -> printf("%d: takes over, effective %d, chain %d, made %d\n", i, fence_is_highest[i], step_at_fence[i], made[i]); TAKEOVER(i) } \
 /* a standby reads to the end; what it read counts for ever */ \
 :: d_step { phase[i] == STANDBY && made[i] != last_step && number[made[i]] < number[last_step] -> printf("%d: standby reads to %d\n", i, last_step); \
      ANC(made[i], last_step); standby_is_a_prefix = r_; assert(standby_is_a_prefix);   /* what it has is a prefix of what counts */ \
      made[i] = last_step; confirmed[i] = last_step } \
 /* owner: a step */ \
 :: d_step { phase[i] == LEADING && steps < MAXID && NOTBROKEN(i) number[made[i]] - number[confirmed[i]] < BOUND && sent[i] + RECS <= Q -> \
      printf("%d: step %d on %d\n", i, steps + 1, made[i]); steps++; before[steps] = made[i]; number[steps] = number[made[i]] + 1; made[i] = steps; APPEND(i, steps) } \
 /* delivery reports */ \
 :: d_step { phase[i] == LEADING && acknowledged[i] != landed[i] -> printf("%d: acknowledged %d\n", i, landed[i]); acknowledged[i] = landed[i] } \
 CONFIRM(i) \
 /* the store: only what is confirmed */ \
 :: d_step { phase[i] != DOWN && FLUSHABLE(i) -> printf("%d: flush, confirmed %d made %d\n", i, confirmed[i], made[i]); FLUSH(i) } \
 /* revoked: everything confirmed, or it counts as lost */ \
 :: d_step { (phase[i] == LEADING || phase[i] == MUST_FENCE || phase[i] == LATE) && ISMEMBER(i) && made[i] == confirmed[i] && generations < MAXG -> printf("%d: revoked\n", i); \
      phase[i] = STANDBY; no_attempt(i) } \
 :: d_step { (phase[i] == LEADING || phase[i] == FENCING) && ISMEMBER(i) && made[i] != confirmed[i] && generations < MAXG && late[i] == 0 -> printf("%d: revoked with unconfirmed steps\n", i); \
      orphan(i); drop(i); phase[i] = STANDBY; member_of[i] = 0; NOINC(i) no_attempt(i) UNBREAK(i) } \
 /* lost: purge, cut, wait for the next assignment */ \
 :: d_step { (phase[i] == MUST_FENCE || phase[i] == FENCING || phase[i] == LEADING || phase[i] == LATE) && !ISMEMBER(i) && late[i] == 0 -> printf("%d: lost\n", i); \
      orphan(i); drop(i); phase[i] = STANDBY; member_of[i] = 0; NOINC(i) no_attempt(i) UNBREAK(i) } \
 /* SIGKILL */ \
 :: d_step { phase[i] != DOWN && crashes < CRASH && generations < MAXG && late[i] == 0 -> printf("%d: SIGKILL\n", i); \
      crashes++; orphan(i); phase[i] = DOWN; made[i] = confirmed[i]; member_of[i] = 0; no_attempt(i) UNBREAK(i) } \
 /* power cut: the store back by a step; again and again */ \
 POWERCUT(i) \
 /* start */ \
 :: d_step { phase[i] == DOWN -> printf("%d: start, made %d confirmed %d\n", i, made[i], confirmed[i]); phase[i] = STANDBY } \
 FAULT(i)

#ifdef INC
#define MEMBER_NOTE(m) if :: phase[m] == STANDBY -> member_of[m] = generation; member_of_group[m] = group :: else fi;
#else
#define MEMBER_NOTE(m) if :: phase[m] == STANDBY -> member_of[m] = generation :: else fi;
#endif
#ifdef REGRESS
#define REG_NOTE if :: owner_before == 4 -> group++ :: else fi; owner_before = owner;
#else
#define REG_NOTE
#endif

#ifdef INC
#define NOINC(i) member_of_group[i] = 0;
#else
#define NOINC(i)
#endif
#ifdef CHUNK
#define RECS 2
#define APPEND(i,x) PUTQ(i, epoch[i], x); PUTQ(i, epoch[i], x + LAST)
#define STEPOF(x) ((x) - LAST)
#define ISLAST(x) ((x) >= LAST)
#else
#define RECS 1
#define APPEND(i,x) PUTQ(i, epoch[i], x)
#define STEPOF(x) (x)
#define ISLAST(x) ((x) > 0)
#endif
#ifdef PERMFAIL
#define LANDED(i) if :: phase[i] == LEADING && sent_epoch[i*Q] == epoch[i] && ISLAST(sent_step[i*Q]) && !broken[i] -> landed[i] = STEPOF(sent_step[i*Q]) :: else fi
#define NOTBROKEN(i) !broken[i] &&
#define UNBREAK(i) ; broken[i] = 0
#else
#define LANDED(i) if :: phase[i] == LEADING && sent_epoch[i*Q] == epoch[i] && ISLAST(sent_step[i*Q]) -> landed[i] = STEPOF(sent_step[i*Q]) :: else fi
#define NOTBROKEN(i)
#define UNBREAK(i)
#endif

/* --- the epoch: log_owner::choose(), make_fence() ------------------------------------------------------------------------------------------------------ */
#ifdef M_NO_ATTEMPT
#define ATTEMPTS false
#else
#define ATTEMPTS (log_epoch % ATT) < ATT - 1
#endif
/* next_epoch(): the lowest above the log's highest whose generation is >= mine; where mine is not above, only with a claim that is taken */
#define FENCE(i) \
   b_ = member_of[i]; \
   if :: b_ > GENOF(log_epoch) -> epoch[i] = b_ * ATT; PUTQ(i, epoch[i], 0); phase[i] = FENCING \
      :: b_ <= GENOF(log_epoch) && ISMEMBER(i) && ATTEMPTS -> epoch[i] = log_epoch + 1; PUTQ(i, epoch[i], 0); phase[i] = FENCING \
      :: else -> phase[i] = LATE fi; b_ = 0

#ifdef M_LEADS_UNREAD
#define READ_TO_FENCE(i)
#else
#define READ_TO_FENCE(i) made[i] = step_at_fence[i];
#endif
/* --- check_fence(): the log is read up to it --------------------------------------------------------------------------------------- */
#define NOTFIRST(i) !fence_is_highest[i] -> orphan(i); fence_landed[i] = 0; step_at_fence[i] = 0; phase[i] = MUST_FENCE   /* fenced meanwhile: once more, or late */
#define TAKEOVER(i) \
   if :: NOTFIRST(i) \
      :: else -> \
         ANC(made[i], step_at_fence[i]); taken_is_a_prefix = r_; assert(taken_is_a_prefix);   /* the rest is rolled forward */ \
         READ_TO_FENCE(i) confirmed[i] = made[i]; acknowledged[i] = made[i]; landed[i] = made[i]; step_at_fence[i] = 0; fence_is_highest[i] = 0; fence_landed[i] = 0; phase[i] = LEADING fi

/* --- the confirm rule: settle() ---------------------------------------------------------------------------------------------------------- */
#define TOLD(i, x) ANC(x, last_step); told_counts = r_; assert(told_counts); confirmed[i] = x                     /* told: it counts, and so for ever */
#ifdef M_CONFIRM_BY_ACKNOWLEDGEMENT
#define BLIND r_ = 1;
#else
#define BLIND
#endif
/* acknowledged, and the log from the owner fence to its record is known: it counts, or somebody fenced in between */
#define CONFIRM(i) \
 :: d_step { phase[i] == LEADING && acknowledged[i] != confirmed[i] -> printf("%d: looks at the log up to %d\n", i, acknowledged[i]); b_ = 0; ANC(acknowledged[i], last_step); BLIND \
      if :: r_ -> ANC(confirmed[i], acknowledged[i]); if :: r_ -> TOLD(i, acknowledged[i]) :: else -> acknowledged[i] = confirmed[i] fi \
         :: else -> b_ = 1 fi; \
      if :: b_ && late[i] == 0 -> orphan(i); drop(i); no_attempt(i) UNBREAK(i); phase[i] = MUST_FENCE :: else fi; b_ = 0 } \
 /* an idle owner looks at its log's end now and then: a record that is not its owner is read */ \
 :: d_step { phase[i] == LEADING && (log_epoch != epoch[i] || log_writer != i) && late[i] == 0 -> printf("%d: meets another's fence in its log\n", i); \
      orphan(i); drop(i); no_attempt(i) UNBREAK(i); phase[i] = MUST_FENCE }

/* --- the store: rows reach the disk ---------------------------------------------------------------------------------------------------- */
#ifdef M_STORE_AHEAD
#define FLUSHABLE(i) on_disk[i] != made[i]
#define FLUSH(i) on_disk[i] = made[i]
#else
#define FLUSHABLE(i) (on_disk[i] != confirmed[i] && number[confirmed[i]] <= number[made[i]])
#define FLUSH(i) on_disk[i] = confirmed[i]
#endif

/* --- more faults -------------------------------------------------------------------------------------------------------- */
#ifdef PERMFAIL
#define FAULT_P(i) \
 :: d_step { phase[i] == LEADING && sent[i] >= 1 && faults < FAULTS && !broken[i] && sent_step[i*Q] != 0 -> printf("%d: record %d fails for good\n", i, sent_step[i*Q]); faults++; broken[i] = 1; pop_sent(i) } \
 REPAIRED(i)
/* any delivery failure: the producer goes, what is pending is dropped, and the next attempt fences */
#define REPAIRED(i) :: d_step { phase[i] == LEADING && broken[i] && late[i] == 0 -> orphan(i); drop(i); no_attempt(i); broken[i] = 0; phase[i] = MUST_FENCE }
#else
#define FAULT_P(i)
#endif
#ifdef ANEW
/* an owner that gives its attempt up and stays the owner in the same generation; what it had sent may be in the log or under way */
#define FAULT_A(i) :: d_step { phase[i] == LEADING && faults < FAULTS && made[i] != confirmed[i] && late[i] == 0 -> printf("%d: gives its attempt up, made %d acknowledged %d confirmed %d\n", i, made[i], acknowledged[i], confirmed[i]); faults++; orphan(i); drop(i); no_attempt(i); phase[i] = MUST_FENCE }
#else
#define FAULT_A(i)
#endif
#define FAULT(i) FAULT_P(i) FAULT_A(i)

/* everything is done: no action is left. The slot must be led by the group's owner, and everything confirmed */
inline good() {
  assert(owner != NONE);
  assert(phase[owner] == LEADING && member_of[owner] == generation);
  assert(made[owner] == last_step && confirmed[owner] == last_step)
}

active proctype world() {
  phase[0] = STANDBY; phase[1] = STANDBY; phase[2] = STANDBY;
  do
  INSTANCE(0)
  INSTANCE(1)
  INSTANCE(2)
  /* the group has no members any more: an empty generation */
  :: d_step { owner != NONE && generations + 1 < MAXG -> printf("group is empty\n"); generations++; generation++; REG_NOTE owner = NONE }
#ifdef DEL
  :: d_step { owner == NONE && generation > 0 && deleted < FAULTS && generations < MAXG -> printf("group is deleted\n"); deleted++; generation = 0; group++ }
#endif
#ifdef REGRESS
  /* the coordinator's log loses its last record (unclean election of __consumer_offsets): the generation before is back */
  :: d_step { owner != NONE && owner_before < NONE && owner_before != owner && gone_back < FAULTS && generations < MAXG -> printf("coordinator goes back to owner %d\n", owner_before); gone_back++; generation--; owner = owner_before; owner_before = 4 }
#endif
  :: else -> break
  od;
  k_ = 0;
#ifndef NOLIVE
  good()
#endif
}
