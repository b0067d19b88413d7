import { existing, type Group, groupBy, type ObservedRequest } from './observed.ts'
import { family, type Observed } from './verdict.ts'

/** The repetitions of requests that may have taken effect, with the records that their call has created. */
const unsafeRepeats = ({ calls, sandbox }: Observed) =>
  calls.flatMap((call) => {
    const records = existing(sandbox, call.attempts)
    return (
      call.repeats
        .map((repeat) => ({ ...repeat, call, records, isDouble: records.length > 1 }))
        // An operation without keys leaves the client no other way, so that only duplicates count.
        .filter(({ from, isDouble }) => from.isAmbiguous && (from.takesKeys || isDouble))
    )
  })

type UnsafeRepeat = ReturnType<typeof unsafeRepeats>[number]
function repeatText([{ from, records, isDouble }]: Group<UnsafeRepeat>, how: string): string {
  const exist = isDouble ? ` ${records.length} records exist: ${records.join(', ')}.` : ''
  return `${from.name} may have taken effect before its attempt ended without a response; the client repeated it ${how}.${exist}`
}

/** Whether a request that may have taken effect is repeated without a second effect. */
export const repeatFamily = family({
  section: 'Limits',
  facts: unsafeRepeats,
  oneFor: ({ call }) => call,
  requests: ({ from, to }) => [from, to],
  evidence: ([{ records, isDouble }, ...more]) => ({
    attempts: more.length + 2,
    ...(isDouble && { records }),
  }),
  weigh: ([{ from, isDouble }]) => (from.takesKeys && isDouble ? 'error' : 'warning'),
  verdicts: {
    'error key.changed': {
      description: 'The client repeats a request that may have taken effect with another Idempotency-Key.',
      fix: 'Create the key once for each call, before the first attempt, and send it with every attempt.',
      isBad: ({ from, to }) =>
        from.takesKeys && from.key !== undefined && to.key !== undefined && from.key !== to.key,
      message: (bad) => repeatText(bad, 'with another Idempotency-Key'),
    },
    'error key.missing': {
      description:
        'The client repeats a request that may have taken effect without an Idempotency-Key; a warning if the operation has no keys.',
      fix: 'Send an Idempotency-Key with every attempt. If the operation honours none, look for the object before you create it again.',
      isBad: ({ from, to }) => to.entry.method === 'POST' && (to.key === undefined || !from.takesKeys),
      message: (bad) => repeatText(bad, 'without an Idempotency-Key that counts'),
    },
  },
})

const isConflict = ({ entry, isFaulted }: ObservedRequest): boolean =>
  entry.error?.code === 'idempotency_key_reused' && !isFaulted

/** Whether a success had only what a later version may change. A single repetition can follow a time-out of the client. */
const isOnlyNew = ({ outcome, entry: { tomorrow, faults } }: ObservedRequest) =>
  outcome === 'success' && tomorrow && !faults?.fired.some(({ rule }) => rule.preset !== 'tomorrow')

/** The requests of one client to one path with one key, or without a key. */
const rowsOf = ({ requests }: Observed) =>
  [...groupBy(requests, ({ reader, key }) => `${reader} ${key}`).values()].map((row) => ({
    row,
    key: row[0].key,
    name: row[0].name,
    bodies: new Set(row.map(({ content }) => content)).size,
    refused: row.filter(isConflict).length,
  }))

/** Whether each call has a key of its own, which no success is repeated with. */
export const keyFamily = family({
  section: 'Limits',
  facts: rowsOf,
  requests: ({ row }) => row,
  evidence: ([{ key = '', bodies, refused }]) => ({ key, bodies, refused }),
  verdicts: {
    'note key.reused': {
      description: 'The client sends one Idempotency-Key with different bodies; a warning from 3 bodies on.',
      fix: 'Create a new key for each call.',
      isBad: ({ key, refused }) => key !== undefined && refused > 0,
      message: ([{ name, bodies, refused }]) =>
        `The Idempotency-Key of ${name} came with ${bodies} different bodies; ${refused} requests were refused.`,
      // Two bodies may be a test of the refusal.
      weigh: ([{ bodies }]) => (bodies > 2 ? 'warning' : 'note'),
    },
    'warning evolve.unknown-value': {
      description:
        'The client repeats a call at least twice, or gives it up, although its response had only what a later version may add.',
      section: 'Versioning',
      fix: 'Ignore fields and headers that the client does not know, keep unknown values as texts, and accept ids of any length.',
      isBad: ({ key, bodies, row }) => key !== undefined && bodies === 1 && row.slice(0, -2).some(isOnlyNew),
      message: ([{ name, row }]) =>
        `${name} was a success, with what a later version may change: ${row.find(isOnlyNew)?.entry.tomorrow?.join(', ')}. The client sent it ${row.length} times.`,
    },
  },
})
