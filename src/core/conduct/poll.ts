import { gapsOf, groupBy, runsOf, spanText } from './observed.ts'
import { family, type Observed } from './verdict.ts'

/** The least number of polls in a row that are no coincidence. */
const MANY = 10
/** The most polls of a finished record that are no sign of a loop. */
const LATE = 5

/** The polls in a row of one client for one record that have shown one status. */
function pollsOf({ requests, sandbox }: Observed) {
  const all = requests.filter(({ operation, json }) => operation?.poll && typeof json?.status === 'string')
  const walks = [...groupBy(all, ({ reader }) => reader).values()]
  const runs = walks.flatMap((walk) =>
    runsOf(walk, ({ json }, [first]) => json?.status === first.json?.status),
  )
  return runs.map((polls) => {
    const [{ operation, entry, json }] = polls
    const status = String(json?.status)
    const [table] = operation?.poll?.ref(entry.params).split('/') ?? []
    const arrows = sandbox.service.lifecycles.find((each) => each.table === table)?.arrows ?? []
    const pauses = gapsOf(polls, sandbox).map(({ real = 0, virtual }) => Math.max(real, virtual))
    return {
      polls,
      status,
      /** The median, in milliseconds of the clock that shows more. */
      pause: pauses.sort((a, b) => a - b)[Math.floor(pauses.length / 2)] ?? 0,
      isKnown: arrows.some(({ from, to }) => from === status || to === status),
      /** Whether the record can leave the status. */
      isOpen: arrows.some(({ from, to }) => from === status && to !== status),
    }
  })
}

/** How a client polls. */
export const pollFamily = family({
  section: 'States and transitions',
  facts: pollsOf,
  requests: ({ polls }) => polls,
  evidence: ([{ status, polls, pause }]) => ({ status, polls: polls.length, pause_ms: pause }),
  verdicts: {
    'warning poll.endless': {
      description: `The client polls on, at least ${MANY} times, after a status that it cannot know.`,
      fix: 'Bound the polling by time, and report an unknown status to the caller.',
      isBad: ({ isKnown, polls }) => !isKnown && polls.length >= MANY,
      message: ([{ polls, status }]) =>
        `${polls[0].name} had the status "${status}", which the client cannot know; it polled ${polls.length} times.`,
    },
    'note poll.finished': {
      description: `The client polls a finished record at least ${LATE} more times.`,
      fix: 'Stop at every status that is final.',
      isBad: ({ isKnown, isOpen, polls }) => isKnown && !isOpen && polls.length > LATE,
      message: ([{ polls, status }]) =>
        `${polls[0].name} had the status "${status}", which is final; the client polled it ${polls.length - 1} more times.`,
    },
    'note poll.too-fast': {
      description: `The client polls at least ${MANY} times in a row, more often than once a second, without a change.`,
      section: 'Endpoints',
      fix: 'Pause between polls, longer as time passes, or use the webhook.',
      isBad: ({ isOpen, polls, pause }) => isOpen && polls.length >= MANY && pause < 1_000,
      message: ([{ polls, status, pause }]) =>
        `${polls[0].name} had the status "${status}", and nothing had changed in ${polls.length} polls with pauses of ${spanText(pause)}.`,
    },
  },
})
