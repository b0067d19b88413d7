import { expect, test } from 'vitest'
import { type LogOptions, loggerTo } from './logger.ts'

function logging(options: Partial<LogOptions> = {}) {
  const lines: string[] = []
  const write = (line: string) => void lines.push(line)
  return { lines, ...loggerTo({ level: 'info', format: 'json', colours: false, write, ...options }) }
}

test.for([
  ['warn', ['b', 'c']],
  ['silent', []],
] as const)('entries below the level %s are not logged', ([level, messages]) => {
  const { lines, info, warn, error } = logging({ level })
  info('a')
  warn('b')
  error('c')
  expect(lines.map((line) => JSON.parse(line).message)).toEqual(messages)
})

test('JSON lines have level, time and message, and the fields of the entry', () => {
  const { lines, info } = logging()
  info('hello', { status: 200 })
  const entry = JSON.parse(lines[0] ?? '')
  expect(entry).toEqual({ level: 'info', time: expect.any(String), status: 200, message: 'hello' })
  expect(new Date(entry.time).toISOString()).toBe(entry.time)
})

test('pretty lines have colours only when the option is on, and the stack of an error line by line', () => {
  const plain = logging({ format: 'pretty' })
  const colourful = logging({ format: 'pretty', colours: true })
  for (const { warn } of [plain, colourful]) warn('hello', { status: 200 })
  expect(plain.lines[0]).toMatch(/^\[\d\d:\d\d:\d\d\.\d{3}\] WARN: hello\n {4}status: 200$/)
  expect(colourful.lines[0]).toContain('\u001b[')
  const error = Object.assign(new Error('no'), { stack: 'Error: no\n    at f (x.ts:1:2)' })
  plain.error('broken', { error })
  expect(plain.lines[1]).toContain('"stack":\n          Error: no\n              at f (x.ts:1:2)\n    }')
})

test.for(['json', 'pretty'] as const)('X6 secrets never reach a log line: %s', (format) => {
  const { lines, info } = logging({ format })
  const names = ['authorization', 'control_token', 'token', 'claim_token']
  const secrets = Object.fromEntries(names.map((name) => [name, 'Bearer canary']))
  info('top', secrets)
  info('below', { headers: secrets })
  info('further below', { deep: { request: { headers: secrets } } })
  info('a target: http://127.0.0.1/hook?access_token=canary', { error: new Error('token: "canary"') })
  expect(lines.join('')).not.toContain('canary')
  expect(lines.join('')).toContain('(redacted)')
})

test('an error is logged with its causes, also if it holds what JSON cannot', () => {
  const { lines, error: log } = logging()
  const error = Object.assign(new RangeError('outer', { cause: new TypeError('inner') }), { code: 'E1' })
  log('broken', { error: Object.assign(error, { itself: error, big: Object(1n) }) })
  const entry = JSON.parse(lines[0] ?? '').error
  expect(entry).toMatchObject({ type: 'RangeError', message: 'outer: inner', code: 'E1' })
  expect(entry.stack).toMatch(/caused by: TypeError: inner/)
})
