import { expect, test } from 'vitest'
import type { Logger } from '../emulator/options.ts'
import { type LogOptions, lazyLogger, pinoLogger } from './logger.ts'

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

test('the logging library is loaded with the first entry of enough severity', async () => {
  const { lines, given } = capture({ level: 'warn' })
  let loads = 0
  const logger = lazyLogger(given, (options) => {
    loads++
    return pinoLogger(options)
  })
  logger.info('b')
  await logger.flush()
  expect(loads).toBe(0)
  logger.warn('c')
  logger.error('d')
  await logger.flush()
  logger.error('e')
  await logger.flush()
  expect(loads).toBe(1)
  expect(lines.map((line) => JSON.parse(line).message)).toEqual(['c', 'd', 'e'])
})

test('the level silent logs nothing', async () => {
  const { lines, given } = capture({ level: 'silent' })
  const logger = lazyLogger(given)
  logger.error('a')
  await logger.flush()
  expect(lines).toEqual([])
})

test('JSON lines have level, time and message, and the fields of the entry', async () => {
  const { lines, given } = capture()
  const logger = await pinoLogger(given)
  logger.info('hello', { status: 200 })
  const entry = JSON.parse(lines[0] ?? '')
  expect(entry).toEqual({ level: 'info', time: expect.any(String), status: 200, message: 'hello' })
  expect(new Date(entry.time).toISOString()).toBe(entry.time)
})

test('pretty lines have colours only when the option is on', async () => {
  const plain = capture({ format: 'pretty' })
  const colourful = capture({ format: 'pretty', colours: true })
  for (const { given } of [plain, colourful]) (await pinoLogger(given)).warn('hello', { status: 200 })
  expect(plain.lines[0]).toMatch(/^\[\d\d:\d\d:\d\d\.\d{3}\] WARN: hello\n {4}status: 200\n$/)
  expect(colourful.lines[0]).toContain('\u001b[')
})

test.for(['json', 'pretty'] as const)('X6 secrets never reach a log line: %s', async (format) => {
  const { lines, given } = capture({ format })
  const logger: Logger = await pinoLogger(given)
  const secrets = {
    authorization: 'Bearer canary',
    control_token: 'canary',
    token: 'canary',
    claim_token: 'canary',
  }
  logger.info('top', secrets)
  logger.info('below', { headers: secrets })
  logger.info('further below', { request: { headers: secrets } })
  expect(lines.join('')).not.toContain('canary')
  expect(lines.join('')).toContain('[redacted]')
})

test('an error keeps its message and stack', async () => {
  const { lines, given } = capture()
  ;(await pinoLogger(given)).error('broken', { error: new RangeError('too much') })
  expect(JSON.parse(lines[0] ?? '').error).toMatchObject({ type: 'RangeError', message: 'too much' })
})

test('without its library the log is plain, says so once, and shows no fields', async () => {
  const { lines, given } = capture({ format: 'pretty' })
  const logger = lazyLogger(given, () => Promise.reject(new Error('no descriptor\n at a stack')))
  logger.info('a\u001b[2J', { token: 'secret' })
  logger.error('b')
  await logger.flush()
  expect(lines).toHaveLength(3)
  expect(lines[0]).toMatch(/^warn: The log is plain and without fields .*\(Error: no descriptor\)\.\n$/)
  expect(lines.slice(1).join('')).toMatch(/^info: a.*\nerror: b\n$/)
  expect(lines.join('')).not.toContain('\u001b')
})
