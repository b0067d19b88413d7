import type { RequestMatch } from '../../core/log/request-match.ts'
import type { OwnCalls } from '../control/client/ask.ts'
import { callCommand } from './call-command.ts'
import { command, FAILED, OK, SANDBOX_OPTIONS, type SandboxInvocation } from './command.ts'
import { controlOf, RequestRefused } from './control-client.ts'
import { bodyLines } from './explain-command.ts'
import { exported } from './export.ts'
import { readSource } from './json-files.ts'
import type { OptionValues } from './options.ts'
import { cell, columns, harmless, show } from './print.ts'
import { requestLine } from './request-line.ts'

type Listed = OwnCalls['GET /requests']['output']
type Entry = Listed['data'][number]
type Check = OwnCalls['POST /requests/verify']['output']

const FILTERS = ['operation', 'method', 'path', 'status', 'idempotencyKey', 'since', 'limit'] as const
const STATUS_HELP = {
  status: { description: 'only requests with this status, such as 429, or of this class, such as 4xx' },
}
const MATCH = {
  name: '<match>',
  description: 'JSON in quotes, or the path of a JSON file: {"operation", "path", "status", "body", ...}',
}

export const requestCommands = [
  command({
    name: 'requests',
    description: 'List the newest API requests in the log; with --follow print new requests until Ctrl-C',
    options: [...SANDBOX_OPTIONS, ...FILTERS, 'full', 'follow'],
    help: STATUS_HELP,
    run: async (invocation) => {
      const { options } = invocation
      if (options.follow) return followed(invocation)
      const body = await controlOf(options)('GET /requests', { query: queryOf(options) })
      if (options.full) return show(invocation, body, body.data.flatMap(fullLines))
      const rows = body.data.map(({ id, at, status, method, path, operation, error }) =>
        [id, at, status, `${method} ${path}`, operation, error?.code].map(cell),
      )
      const head = ['ID', 'AT', 'STATUS', 'REQUEST', 'OPERATION', 'ERROR']
      const table = rows.length === 0 ? ['No request in the log matches.'] : columns([head, ...rows])
      return show(invocation, body, [...table, ...notListed(body, rows.length)])
    },
  }),
  command({
    name: 'requests export',
    description:
      'Write the requests of the log as HAR 1.2, without keys and secrets, for browsers and other tools',
    options: [...SANDBOX_OPTIONS, ...FILTERS, 'har'],
    help: STATUS_HELP,
    run: async (invocation) => {
      const { options } = invocation
      const { full: _, ...query } = queryOf({ ...options, full: false })
      const document = await controlOf(options)('GET /requests/har', { query })
      return exported(invocation, document, options.har, `${document.log.entries.length} requests`)
    },
  }),
  checkCommand(
    'verify',
    'Check that requests have come: exit code 1 when they have not',
    ['exactly'],
    (match, { exactly }) => [
      'POST /requests/verify',
      { match, ...(exactly === undefined ? {} : { count: { exactly } }) },
    ],
  ),
  checkCommand(
    'wait',
    'Wait until requests have come: exit code 1 when the time is up',
    ['count', 'timeout'],
    (match, { count, timeout }) => ['POST /requests/wait', { match, count, timeout_ms: timeout }],
  ),
  callCommand({
    name: 'requests resend',
    description: 'Send a request of the log again, as the caller that it was logged with',
    args: [{ name: '<request-id>', description: 'as requests lists it' }],
    route: 'POST /requests/{request_id}/resend',
    lines: (entry) => [lineOf(entry)],
  }),
  callCommand({
    name: 'requests clear',
    description: 'Empty the log of API requests',
    route: 'DELETE /requests',
    lines: () => ['The log of requests is empty.'],
  }),
]

type CheckCall = readonly ['POST /requests/verify' | 'POST /requests/wait', { readonly match: RequestMatch }]

/** A command that checks whether matching requests have come, and fails when they have not. */
function checkCommand<const N extends 'exactly' | 'count' | 'timeout'>(
  name: string,
  description: string,
  extra: readonly N[],
  call: (match: RequestMatch, options: OptionValues<N>) => CheckCall,
) {
  return command({
    name: `requests ${name}`,
    description,
    args: [MATCH],
    options: [...SANDBOX_OPTIONS, ...extra],
    run: async (invocation) => {
      const { value } = await readSource('match', invocation.args[0] ?? '')
      // The emulator checks the match.
      const [route, body] = call(value as RequestMatch, invocation.options as OptionValues<N>)
      const check: Check = await controlOf(invocation.options)(route, { body })
      show(invocation, check, checkLines(check))
      return check.passed ? OK : FAILED
    },
  })
}

function checkLines({ passed, actual, expected, nearest = [], description }: Check): string[] {
  const wanted = Object.entries(expected).map(([word, count]) => `${word.replace('_', ' ')} ${count}`)
  return [
    `${passed ? 'Passed' : 'Not passed'}: ${actual} came, wanted ${wanted.join(', ')}.`,
    ...(description === undefined ? [] : [description]),
    ...nearest.flatMap(({ id, method, path, status, missed }) => [
      `  ${id}  ${status}  ${method} ${path}`,
      ...missed.map((each) => `    ${Object.values(each).map(cellOf).join('  ')}`),
    ]),
  ]
}

function cellOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

/** Prints the newest requests, and each that comes after them. */
async function followed(invocation: SandboxInvocation & { readonly options: Filters }): Promise<number> {
  const { options, terminal } = invocation
  const ask = controlOf(options)
  const { follow } = await import('./follow.ts')
  let query = queryOf(options)
  const printNew = async (): Promise<void> => {
    const { data } = await ask('GET /requests', { query }).catch((error: unknown) => {
      // The last printed request is not in the log any more, so all its entries are new.
      if (!(error instanceof RequestRefused) || query.since === undefined) throw error
      query = { ...query, since: undefined }
      return ask('GET /requests', { query })
    })
    for (const entry of data) {
      if (options.json) terminal.out(JSON.stringify(entry))
      else for (const line of options.full ? fullLines(entry) : [lineOf(entry)]) terminal.out(harmless(line))
    }
    query = { ...query, limit: '1000', since: data.at(-1)?.id ?? query.since }
  }
  return follow(invocation, { types: ['request'] }, ({ type }) => (type === 'end' ? undefined : printNew()))
}

function lineOf({ duration_ms: ms, ...entry }: Entry): string {
  return requestLine({ ...entry, ms }, false)
}

/** A request with the bodies that the log has kept of it. */
function fullLines(entry: Entry): string[] {
  const { request, response } = entry
  const sent = request?.body === null || request === undefined ? [] : [JSON.stringify(request.body)]
  const received = response === null || response === undefined ? [] : bodyLines(response)
  return [lineOf(entry), ...sent.map((line) => `  > ${line}`), ...received.map((line) => `  < ${line}`)]
}

type Filters = OptionValues<(typeof FILTERS)[number] | 'full'>

function queryOf({ idempotencyKey, limit, full, ...texts }: Filters) {
  const { operation, method, path, status, since } = texts
  const count = limit === undefined ? undefined : String(limit)
  const more = full ? { full: 'true' as const } : {}
  return { operation, method, path, status, since, idempotency_key: idempotencyKey, limit: count, ...more }
}

function notListed({ matched, capacity, dropped }: Listed, shown: number): string[] {
  return [
    ...(matched > shown ? [`The newest ${shown} of ${matched} matching requests; --limit shows more.`] : []),
    ...(dropped > 0 ? [`The log keeps ${capacity} requests; ${dropped} older ones were dropped.`] : []),
  ]
}
