import { prefixOf } from '../../control-client/transport.ts'
import { comment, literal } from '../../core/quoted.ts'
import type { RecordedInput, RecordingBundle } from '../../core/record/bundle.ts'
import { CommandFailed } from '../../terminal/command.ts'
import { vitestSource } from '../vitest-source.ts'

// Programs add them by themselves, and no response depends on them.
const NEVER_SENT =
  /^(?:host|connection|content-length|transfer-encoding|expect|x-emulator-sandbox|user-agent|accept-encoding|accept-language|sec-fetch-.*)$/i

/** A longer body of a response is not compared: it would hide the requests. */
const MAX_COMPARED = 300

/** The inputs of a recording as lines. The clock stands still, and is moved to the instant of each input. */
function* stepsOf({ inputs, state, emulator }: RecordingBundle) {
  let at = state.clock.now
  for (const input of inputs) {
    if (!('request' in input || 'control' in input)) continue
    if (input.at > at) {
      at = input.at
      yield [`await sandbox.clock.advance({ to: ${literal(at)} })`]
    }
    if ('request' in input) yield requestLines(input, state.sandbox, emulator.origin)
    else {
      const { route, params, query, body } = input.control
      const [method = '', template = ''] = route.split(' ')
      const path = template.replaceAll(/\{(\w+)\}/g, (_, key) => encodeURIComponent(params[key] ?? ''))
      const search = query === undefined ? '' : `?${new URLSearchParams(query)}`
      const given = [method, path + search, ...(body === undefined ? [] : [body])].map(source).join(', ')
      yield [comment(`Control interface: ${method} ${path}`), `await control(${given})`]
    }
  }
}

function requestLines(
  { request, output }: Extract<RecordedInput, { request: unknown }>,
  sandbox: string,
  origin: string,
): string[] {
  const [line = '', ...lines] = request.head.split('\n')
  const [method = '', target = ''] = line.split(' ')
  const path = target.replace(`${prefixOf(sandbox)}/v1`, '/v1').slice('/v1'.length)
  const headers = lines.flatMap((each) => {
    const [name = '', ...rest] = each.split(': ')
    const value = rest.join(': ')
    // The token may name the sandbox.
    const isNamed = /^authorization$/i.test(name) && value.endsWith(`@${sandbox}`)
    const own = [name, isNamed ? value.slice(0, -sandbox.length - 1) : value] as const
    return NEVER_SENT.test(name) || (/^accept$/i.test(name) && value === '*/*') ? [] : [own]
  })
  const { body } = request
  if (typeof body === 'object')
    throw new CommandFailed(`The body of ${method} ${path} is not text, so the recording has no such form.`)
  const init = [
    ...(method === 'GET' ? [] : [`method: ${literal(method)}`]),
    ...(headers.length === 0 ? [] : [`headers: ${source(Object.fromEntries(headers))}`]),
    ...(body === undefined ? [] : [`body: ${bodySource(body)}`]),
  ]
  const call = `call(${literal(path)}${init.length === 0 ? '' : `, { ${init.join(', ')} }`})`
  const heading = comment(`${method} ${path}`)
  if (output === undefined) return [heading, `await ${call}`]
  if ((output.sent?.end ?? 'whole') !== 'whole')
    return [heading, `await expect(${call}.then((response) => response.text())).rejects.toThrow()`]
  const status = Number(output.head.split('\n', 1)[0])
  const { text } = output
  // The sandbox and the emulator are others, and errors name the path.
  const isOther = text === undefined || [sandbox, origin].some((each) => text.includes(each))
  if (status >= 400 || isOther || text.length > MAX_COMPARED)
    return [heading, `expect((await ${call}).status).toBe(${status})`]
  return [
    heading,
    `response = await ${call}`,
    `expect(response.status).toBe(${status})`,
    `expect(await response.text()).toBe(${bodySource(text)})`,
  ]
}

/** A text: that of a JSON value as its source, if JSON.stringify() writes the same bytes. */
function bodySource(text: string): string {
  try {
    const value: unknown = JSON.parse(text)
    if (JSON.stringify(value) === text) return `JSON.stringify(${source(value)})`
  } catch {
    // It is another text.
  }
  return literal(text)
}

/** A JSON value as source text: names without quotes, where JavaScript allows it. */
function source(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(source).join(', ')}]`
  if (typeof value !== 'object' || value === null) return literal(value)
  const fields = Object.entries(value).map(
    ([name, each]) => `${/^_?[a-z]\w*$/i.test(name) ? name : `[${literal(name)}]`}: ${source(each)}`,
  )
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`
}

/** The lines that give the sandbox of the test its state. */
function setUp({ start, state }: RecordingBundle, file: string): string[] {
  const clock = source({ ...state.clock, rate: 0, wall: null })
  if (start === undefined)
    return [
      '// It does not begin with shipped fixtures: its whole state is in the recording.',
      `const { state } = JSON.parse(await readFile(${literal(file)}, 'utf8'))`,
      `await sandbox.state.load({ ...state, clock: ${clock}, sandbox: sandbox.name })`,
    ]
  const {
    sandbox: _,
    seed: __,
    clock: { skip_on_poll },
    collections,
    ...rest
  } = state
  // A new sandbox has no rules of faults, and no scenario.
  const facts = Object.entries(rest).filter(
    ([, value]) => !['[]', '{}', 'null'].includes(JSON.stringify(value)),
  )
  return [
    ...Object.entries(start.removed).flatMap(([name, ids]) =>
      ids.map((id) => `await sandbox.state.delete(${literal(name)}, ${literal(id)})`),
    ),
    ...Object.entries(collections).flatMap(([name, rows]) =>
      rows.map((row) => `await sandbox.state.put(${literal(name)}, ${source(row)})`),
    ),
    ...(facts.length === 0 && !skip_on_poll
      ? []
      : [
          'await sandbox.state.load({',
          '  ...(await sandbox.state.document({ secrets: true })),',
          `  clock: ${clock},`,
          ...facts.map(([key, value]) => `  ${key}: ${source(value)},`),
          '})',
        ]),
  ]
}

const CALL = [
  'const call = (path: string, init?: RequestInit) =>',
  '  fetch(sandbox.baseUrl + path, { ...init, signal: AbortSignal.timeout(5_000) })',
]

const CONTROL = [
  'const control = (method: string, path: string, body?: object) =>',
  '  fetch(sandbox.controlUrl + path, {',
  '    method,',
  "    headers: { 'content-type': 'application/json' },",
  '    body: JSON.stringify(body),',
  '  })',
]

/** A recording as a test. @param file the path of the recording */
export function vitestOf(bundle: RecordingBundle, file: string): string {
  const steps = [...stepsOf(bundle)].flat()
  const has = (part: string) => steps.some((line) => !line.startsWith('//') && line.includes(part))
  const { start } = bundle
  const origin = start && { fixtures: start.fixtures, seed: start.seed, clock: start.at }
  const lines = [
    ...setUp(bundle, file),
    ...CALL,
    ...(has('await control(') ? CONTROL : []),
    ...(has('response = await') ? ['let response: Response'] : []),
    '',
    ...steps,
  ]
  return vitestSource(`repeats ${file}`, lines, {
    imports: start === undefined ? ["import { readFile } from 'node:fs/promises'"] : [],
    options: source({ ...origin, rate: 0 }),
  })
}
