import { z } from 'zod'
import type { OwnCalls } from '../control-client/ask.ts'
import type { Json } from '../core/json.ts'
import { counted } from '../core/words.ts'
import { kind, option, optional, toggle } from '../emulator/option.ts'
import { call, isOn, sandboxCommand } from '../terminal/call-command.ts'
import { FAILED, OK } from '../terminal/command.ts'
import { RequestRefused } from '../terminal/control-client.ts'
import { bodyLines } from '../terminal/explain-command.ts'
import { readSource } from '../terminal/json-files.ts'
import type { Line } from '../terminal/line.ts'
import { freeText, kinds, type OptionValues, SHARED } from '../terminal/options.ts'
import { linesOf, show, textOf } from '../terminal/print.ts'
import { requestLines, rowOf } from '../terminal/request-line.ts'

type Entry = OwnCalls['GET /requests']['output']['data'][number]
type Check = OwnCalls['POST /requests/verify']['output']

/** The columns of the table of requests by default, and those that it can have. */
const USUAL_COLUMNS = ['id', 'at', 'status', 'request', 'operation', 'error']
const COLUMNS = [
  ...USUAL_COLUMNS,
  ...['method', 'path', 'key', 'idempotency_key', 'trace'],
  ...['duration_ms', 'decided', 'faults', 'changed', 'assumed'],
]
const columnList = kind(
  'names',
  z.array(z.enum(COLUMNS)),
  `is not a list of columns. Give some of ${COLUMNS.join(',')}.`,
  (value) => value.split(','),
)

const { operation, status, since, stable, follow, timeout } = SHARED
const FILTERS = {
  operation,
  method: freeText('method', 'only requests with this method'),
  path: freeText('glob', 'only requests to this path; * is any run of characters'),
  status,
  idempotencyKey: freeText('glob', 'only requests with this Idempotency-Key; * is any run of characters'),
  trace: freeText('glob', 'only requests of this trace (traceparent); * is any run of characters'),
  since,
  limit: optional(kinds.count, '100', 'how many requests to list, the newest ones'),
}
/** What the commands have in common that check requests. */
const CHECK = {
  args: {
    '<match>': 'JSON in quotes, or the path of a JSON file: {"operation", "path", "status", "body", ...}',
  },
  lines: checkLines,
  code: ({ passed }: Check) => (passed ? OK : FAILED),
}

export const requestCommands = [
  sandboxCommand('requests', {
    description: 'List the newest API requests in the log; with --follow print new requests until Ctrl-C',
    options: {
      ...FILTERS,
      full: toggle('with the bodies of requests and responses, as far as the log has kept them'),
      follow,
      stable,
      columns: option(columnList, USUAL_COLUMNS, {
        description: `columns of the table: ${COLUMNS.join(', ')}`,
      }),
    },
    run: async (ask, invocation) => {
      const { options } = invocation
      let query = { ...queryOf(options), full: isOn(options.full) }
      if (options.follow) {
        const { follow } = await import('./follow.ts')
        return follow(invocation, { types: ['request'] }, async ({ type }) => {
          if (type === 'end') return
          const { data } = await ask('GET /requests', { query }).catch((error: unknown) => {
            // The last printed request is not in the log any more, so all its entries are new.
            if (!(error instanceof RequestRefused) || query.since === undefined) throw error
            query = { ...query, since: undefined }
            return ask('GET /requests', { query })
          })
          for (const entry of data)
            show(invocation, entry, options.full ? fullLines(entry) : entryLines(entry))
          query = { ...query, limit: '1000', since: data.at(-1)?.id ?? query.since }
        })
      }
      const body = await ask('GET /requests', { query })
      if (options.full) return show(invocation, body, body.data.flatMap(fullLines))
      const { matched, capacity, dropped } = body
      const data = body.data.map(rowOf)
      const more = `The newest ${data.length} of ${matched} matching requests; --limit shows more.`
      return show(invocation, body, [
        ...linesOf({ data }, options.columns, 'No request in the log matches.'),
        ...(matched > data.length ? [more] : []),
        ...(dropped > 0 ? [`The log keeps ${capacity} requests; ${dropped} older ones were dropped.`] : []),
      ])
    },
  }),
  call('requests export', 'GET /requests/har', {
    description:
      'Write the requests of the log as HAR 1.2, without keys and secrets, for browsers and other tools',
    options: {
      ...FILTERS,
      har: freeText('file', 'HAR file to write; an existing one is replaced', 'stdout'),
      stable,
    },
    query: (_, options) => queryOf(options),
    exports: ({ log }, _, { har }) => [har, counted(log.entries.length, 'request')],
  }),
  call('requests verify', 'POST /requests/verify', {
    ...CHECK,
    description: 'Check that requests have come: exit code 1 when they have not',
    options: { exactly: optional(kinds.number, 'at least 1', 'how many requests must have come') },
    body: async ({ match }, { exactly }) => ({
      match: await matchOf(match),
      count: exactly === undefined ? undefined : { exactly },
    }),
  }),
  call('requests wait', 'POST /requests/wait', {
    ...CHECK,
    description: 'Wait until requests have come: exit code 1 when the time is up',
    options: { count: option(kinds.count, 1, { description: 'how many requests to wait for' }), timeout },
    body: async ({ match }, { count, timeout }) => ({
      match: await matchOf(match),
      count,
      timeout_ms: timeout,
    }),
  }),
]

// The emulator checks the match.
async function matchOf(text = ''): Promise<Json> {
  return (await readSource('match', text)).value
}

function checkLines({ passed, actual, expected, nearest = [], description }: Check): string[] {
  const wanted = Object.entries(expected).map(([word, count]) => `${word.replace('_', ' ')} ${count}`)
  return [
    `${passed ? 'Passed' : 'Not passed'}: ${actual} came, wanted ${wanted.join(', ')}.`,
    ...(description === undefined ? [] : [description]),
    ...nearest.flatMap(({ id, method, path, status, missed }) => [
      `  ${id}  ${status}  ${method} ${path}`,
      ...missed.map((each) => `    ${Object.values(each).map(textOf).join('  ')}`),
    ]),
  ]
}

function entryLines({ duration_ms: ms = null, ...entry }: Entry): Line[] {
  return requestLines({ ...entry, ms })
}

/** A request with the bodies that the log has kept of it. */
function fullLines(entry: Entry): Line[] {
  const { request, response } = entry
  const sent = request?.body === null || request === undefined ? [] : [JSON.stringify(request.body)]
  const received = response === null || response === undefined ? [] : bodyLines(response)
  return [
    ...entryLines(entry),
    ...sent.map((line) => `  > ${line}`),
    ...received.map((line) => `  < ${line}`),
  ]
}

function queryOf(options: OptionValues<typeof FILTERS & Pick<typeof SHARED, 'stable'>>) {
  const { operation, method, path, status, since, idempotencyKey, trace, limit, stable } = options
  const texts = { operation, method, path, status, since, trace, idempotency_key: idempotencyKey }
  return { ...texts, limit: limit?.toString(), stable: isOn(stable) }
}
