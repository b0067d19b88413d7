import { expect, test } from 'vitest'
import type { Logger } from '../emulator/options.ts'
import { type LogOptions, loggerTo } from './logger.ts'

function capture(options: Partial<LogOptions> = {}) {
  const lines: string[] = []
  const given: LogOptions = {
    level: 'info',
    format: 'json',
    colours: false,
    write: (line) => void lines.push(line),
    ...options,
  }
  return { lines, given }
}

test('entries below the level are not logged', () => {
  const { lines, given } = capture({ level: 'warn' })
  const logger = loggerTo(given)
  logger.info('a')
  logger.warn('b')
  logger.error('c')
  expect(lines.map((line) => JSON.parse(line).message)).toEqual(['b', 'c'])
})

test('the level silent logs nothing', () => {
  const { lines, given } = capture({ level: 'silent' })
  const logger = loggerTo(given)
  logger.error('a')
  expect(lines).toEqual([])
})

test('JSON lines have level, time and message, and the fields of the entry', () => {
  const { lines, given } = capture()
  const logger = loggerTo(given)
  logger.info('hello', { status: 200 })
  const entry = JSON.parse(lines[0] ?? '')
  expect(entry).toEqual({ level: 'info', time: expect.any(String), status: 200, message: 'hello' })
  expect(new Date(entry.time).toISOString()).toBe(entry.time)
})

test('pretty lines have colours only when the option is on', () => {
  const plain = capture({ format: 'pretty' })
  const colourful = capture({ format: 'pretty', colours: true })
  for (const { given } of [plain, colourful]) loggerTo(given).warn('hello', { status: 200 })
  expect(plain.lines[0]).toMatch(/^\[\d\d:\d\d:\d\d\.\d{3}\] WARN: hello\n {4}status: 200$/)
  expect(colourful.lines[0]).toContain('\u001b[')
})

test.for(['json', 'pretty'] as const)('X6 secrets never reach a log line: %s', (format) => {
  const { lines, given } = capture({ format })
  const logger: Logger = loggerTo(given)
  const secrets = {
    authorization: 'Bearer canary',
    control_token: 'canary',
    token: 'canary',
    claim_token: 'canary',
  }
  logger.info('top', secrets)
  logger.info('below', { headers: secrets })
  logger.info('further below', { deep: { request: { headers: secrets } } })
  logger.info('a target: http://127.0.0.1/hook?access_token=canary', { error: new Error('token: "canary"') })
  expect(lines.join('')).not.toContain('canary')
  expect(lines.join('')).toContain('(redacted)')
})

test('an error keeps its message and stack', () => {
  const { lines, given } = capture()
  loggerTo(given).error('broken', { error: new RangeError('too much') })
  expect(JSON.parse(lines[0] ?? '').error).toMatchObject({ type: 'RangeError', message: 'too much' })
})

test('an error that holds what JSON cannot is logged with its causes', () => {
  const { lines, given } = capture()
  const error = Object.assign(new Error('outer', { cause: new TypeError('inner') }), { code: 'E1' })
  loggerTo(given).error('broken', { error: Object.assign(error, { itself: error, big: Object(1n) }) })
  const entry = JSON.parse(lines[0] ?? '').error
  expect(entry).toMatchObject({ type: 'Error', message: 'outer: inner', code: 'E1' })
  expect(entry.stack).toMatch(/caused by: TypeError: inner/)
})

test('a pretty error shows its stack line by line', () => {
  const { lines, given } = capture({ format: 'pretty' })
  const error = Object.assign(new Error('no'), { stack: 'Error: no\n    at f (x.ts:1:2)' })
  loggerTo(given).error('broken', { error })
  expect(lines[0]).toContain('"stack":\n          Error: no\n              at f (x.ts:1:2)\n    }')
})
