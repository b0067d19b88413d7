import { prefixOf } from '../../client/transport.ts'
import { comment, literal } from '../../core/quoted.ts'
import type { RecordedInput, RecordingBundle } from '../../core/record/bundle.ts'
import { CommandFailed } from '../../terminal/command.ts'

const NEVER_SENT = /^(?:host|connection|content-length|transfer-encoding|expect|x-emulator-sandbox)$/i

/** The requests of a recording. The clock stands still, and is moved to the instant of each input. */
function* stepsOf({ inputs, state, emulator }: RecordingBundle) {
  let at = state.clock.now
  for (const input of inputs) {
    if (!('request' in input || 'control' in input)) continue
    if (input.at > at) {
      at = input.at
      yield controlStep('POST', '/clock/advance', { to: at })
    }
    if ('request' in input) yield requestStep(input, state.sandbox, emulator.origin)
    else {
      const { route, params, query, body } = input.control
      const [method = '', template = ''] = route.split(' ')
      const path = template.replaceAll(/\{(\w+)\}/g, (_, key) => encodeURIComponent(params[key] ?? ''))
      const search = query === undefined ? '' : `?${new URLSearchParams(query)}`
      yield controlStep(method, path + search, body)
    }
  }
}

function controlStep(method: string, path: string, content: unknown) {
  const body = content === undefined ? undefined : JSON.stringify(content)
  const headers = body === undefined ? [] : [['Content-Type', 'application/json'] as const]
  const unknown = { status: undefined, text: undefined }
  return { title: `control ${method} ${path}`, base: 'controlUrl', method, path, headers, body, ...unknown }
}

function requestStep(
  { request, output }: Extract<RecordedInput, { request: unknown }>,
  sandbox: string,
  origin: string,
) {
  const [line = '', ...lines] = request.head.split('\n')
  const [method = '', target = ''] = line.split(' ')
  const path = target.replace(`${prefixOf(sandbox)}/v1`, '/v1').slice('/v1'.length)
  const headers = lines.flatMap((each) => {
    const [name = '', ...rest] = each.split(': ')
    const value = rest.join(': ')
    // The token may name the sandbox.
    const isNamed = /^authorization$/i.test(name) && value.endsWith(`@${sandbox}`)
    const own = [name, isNamed ? value.slice(0, -sandbox.length - 1) : value] as const
    return NEVER_SENT.test(name) ? [] : [own]
  })
  const { body } = request
  if (typeof body === 'object')
    throw new CommandFailed(`The body of ${method} ${path} is not text, so the recording has no such form.`)
  // 0 when no whole response arrived, undefined when it is not known.
  const isWhole = (output?.sent?.end ?? 'whole') === 'whole'
  const status = isWhole ? output && Number(output.head.split('\n', 1)[0]) : 0
  // The sandbox and the emulator are others, and errors name the path.
  const isOther = [sandbox, origin].some((each) => output?.text?.includes(each))
  const text = status && status < 400 && !isOther ? output?.text : undefined
  return { title: `${method} ${path}`, base: 'baseUrl', method, path, headers, body, status, text }
}

function frozen({ state }: RecordingBundle) {
  return { ...state, clock: { ...state.clock, rate: 0, wall: null } }
}

/** A recording as a test. @param name of the recording */
export function vitestOf(bundle: RecordingBundle, name: string): string {
  const steps = [...stepsOf(bundle)].map((step, n) => {
    const { title, base, path, method, headers, body, status, text } = step
    const init = { method, headers: Object.fromEntries(headers), ...(body !== undefined && { body }) }
    const url = `sandbox.${base} + ${literal(path)}`
    const call = `fetch(${url}, { ...${literal(init)}, signal: AbortSignal.timeout(5_000) })`
    const heading = `  ${comment(`${n + 1}. ${title}`)}`
    if (status === undefined) return [heading, `  await ${call}`]
    if (status === 0)
      return [heading, `  await expect(${call}.then((response) => response.text())).rejects.toThrow()`]
    return [
      heading,
      `  response = await ${call}`,
      `  expect(response.status).toBe(${status})`,
      ...(text === undefined ? [] : [`  expect(await response.text()).toBe(${literal(text)})`]),
    ]
  })
  return [
    "import { expect, test } from 'agent-workspace-emulator/vitest'",
    '',
    `const state = ${literal(frozen(bundle))}`,
    '',
    `test(${literal(`repeats ${name}`)}, async ({ sandbox }) => {`,
    '  let response: Response',
    '  await sandbox.state.load({ ...state, sandbox: sandbox.name })',
    ...steps.flat(),
    '})',
  ].join('\n')
}
