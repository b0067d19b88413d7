import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { command, nodeClient, temporaryDirectory, temporaryFile, withError } from './in-process.ts'
import { spawnCommand } from './process.ts'

const PATH = process.env.PATH ?? ''

/** A time limit that ends when the client says so: one in real time would depend on the speed of the machine. */
const limit = vi.hoisted(() => ({ flag: '59m', ms: 59 * 60_000, end: () => {} }))

vi.mock('../../src/core/time/realtime.ts', async (original) => {
  const real = await original<typeof import('../../src/core/time/realtime.ts')>()
  const later: typeof real.later = (ms, call) => {
    if (ms !== limit.ms) return real.later(ms, call)
    limit.end = call
    return () => {}
  }
  return { ...real, later }
})

/** A function for clients: `over()` ends their time limit. */
async function overAtLimit(): Promise<string> {
  const server = createServer((_, response) => void response.end(() => limit.end())).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return `const over = () => void fetch('http://127.0.0.1:${(server.address() as AddressInfo).port}').catch(() => {})`
}

/** A client that sends one GET and repeats it after a failure; `wait` is its pause in milliseconds. */
const READER = `
  const read = async (left) => {
    const response = await api('/organization/mcp-servers', {})
    await response.text()
    if (response.ok || left === 0) return
    await new Promise((resolve) => setTimeout(resolve, pause(response)))
    return read(left - 1)
  }`
const CORRECT = `${READER}
  const pause = ({ headers }) => Math.min(60, Number(headers.get('retry-after') ?? 1)) * 1000 + 20
  read(3)`
// On a busy machine its wait of 1 ms may take so long that it counts as one, which is too short.
const IMPATIENT = `${READER}
  const pause = () => 1
  read(3)`

function certify(flags: readonly string[], ...client: readonly string[]) {
  return command(['certify', ...flags, '--', ...client], { PATH })
}

function script(flags: readonly string[], text: string) {
  return certify(flags, ...nodeClient(text))
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into cards of every shape; the assertions are the types.
const cardOf = (out: string): any => JSON.parse(out)

test('a client that waits as it is told passes', async () => {
  const { code, out, err } = await script(['--run', 'read/{rate-limited,slow}'], CORRECT)
  expect([code, err]).toEqual([0, ''])
  expect(out).toMatch(/^passed +read\/rate-limited\npassed +read\/slow\n2 passed of 2 cases in \S+ s\.$/)
})

test('a client that does not wait fails with the verdict, its fix, and the command that repeats the case', async () => {
  const junit = join(temporaryDirectory(), 'certify.xml')
  const flags = ['--run', 'read/rate-limited', '--retries', '3', '--junit', junit]
  const { code, out } = await script(flags, IMPATIENT)
  expect(code).toBe(1)
  const [line, message, fix, again] = out.split('\n')
  expect(line).toMatch(/^FAILED +read\/rate-limited +wait\.(?:none|too-short)$/)
  expect(message).toContain('Retry-After: 2')
  expect(fix).toContain('Fix: Wait as many seconds as Retry-After says')
  expect(again).toContain('Again: workspace-emulator certify --retries 3 --run read/rate-limited -- ')
  expect(readFileSync(junit, 'utf8')).toMatch(
    /"><failure type="wait\.(?:none|too-short)" message="[^"<]+">Wait as[^<]+<\/failure>(?:<.*)?<\/testcase>\n<\/testsuite>\n/,
  )
})

test('a client that sends nothing is not reached, which is no pass', async () => {
  const { code, out } = await certify(['--run', '{read,list}/server-error', '--json'], 'true')
  const { totals, cases } = cardOf(out)
  expect([code, totals]).toEqual([2, { passed: 0, failed: 0, not_reached: 2, skipped: 0 }])
  expect(cases).toMatchObject([
    { case: 'list/server-error', class: 'list', faults: ['server-error'], findings: [], exit_code: 0 },
    { case: 'read/server-error', reason: 'The fault never fired: the client sent no such request.' },
  ])
})

test.for([
  ['read/server-error+rate-limited', /Only 1 of 2 failures happened/],
  ['list/rate-limited', /not reached +list\/rate-limited[\s\S]* Sent: 1 x GET \S+\/mcp-servers 200/],
] as const)('%s is not reached by one request, and what was sent is shown', async ([name, shown]) => {
  const { code, out } = await script(['--run', name], `${READER}\nread(0)`)
  expect([code, out]).toEqual([2, expect.stringMatching(shown)])
})

test('a client that waits longer than the time limit, as it was told, passes without a wait for it', async () => {
  const flags = ['--run', 'read/retry-after-huge', '--timeout', limit.flag, '--json']
  const waiting = `${await overAtLimit()}
    const pause = () => (over(), 60_000)`
  const { code, out } = await script(flags, `${READER}\n${waiting}\nread(3)`)
  expect(code).toBe(0)
  expect(cardOf(out).cases).toMatchObject([{ result: 'passed', exit_code: null }])
})

test.for([
  ['read/stall-after-headers', 1, 'timeout.body'],
  ['read/server-error', 2, 'no response had told it to wait'],
] as const)('%s: a client that still runs at its limit has exit code %i', async ([pattern, code, reason]) => {
  const idle = `${READER.replace('await response.text()', 'if (response.ok) over()\n$&')}
    ${await overAtLimit()}
    const pause = () => (over(), 60_000)
    read(3)`
  const outcome = await script(['--run', pattern, '--timeout', limit.flag], idle)
  expect([outcome.code, outcome.out]).toEqual([code, expect.stringContaining(reason)])
})

test('the client gets the sandbox, the keys and the name of its case', async () => {
  const file = join(temporaryDirectory(), 'env.json')
  const write = `require('fs').writeFileSync(${JSON.stringify(file)}, JSON.stringify(process.env))`
  await script(['--run', 'list/rate-limited'], write)
  const env = JSON.parse(readFileSync(file, 'utf8'))
  expect(env).toMatchObject({
    WORKSPACE_BASE_URL: `${env.WORKSPACE_EMULATOR_URL}/v1`,
    WORKSPACE_API_KEY: 'live_demo_owner',
    WORKSPACE_EMULATOR_URL: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/@list-rate-limited$/),
    WORKSPACE_CERTIFY_CASE: 'list/rate-limited',
    WORKSPACE_CERTIFY_TIMEOUT_MS: '2000',
  })
})

test('a case whose fault needs a key is not reached by a create without one', async () => {
  const create = (headers: object) => `
    api('/batch-predictions', { method: 'POST', headers: ${JSON.stringify(headers)}, body: '{}' }).catch(() => {})`
  const flags = ['--run', 'create-*/server-error', '--json', '--retries', '0']
  const { out } = await script(flags, create({}))
  expect(cardOf(out).cases).toMatchObject([
    { case: 'create-with-key/server-error', reason: 'The create had no Idempotency-Key.' },
    { case: 'create-without-key/server-error', result: 'passed' },
  ])
  const keyed = await script(flags, create({ 'idempotency-key': 'k' }))
  expect(cardOf(keyed.out).cases).toMatchObject([
    { case: 'create-with-key/server-error', result: 'passed' },
    { case: 'create-without-key/server-error', reason: 'The create had an Idempotency-Key.' },
  ])
})

test.for([
  ['read/cut-mid-body', 'it ended with 200 (cut off), and the client gave up', '200 (cut off)'],
  ['read/rst-before-headers', 'it ended with no response, and the client gave up', 'no response'],
] as const)('%s: a response that was cut is not called a success', async ([pattern, reason, sent]) => {
  const careless = `${READER.replace('await response.text()', '$&.catch(() => {})')}\nread(0).catch(() => {})`
  const { code, out } = await script(['--run', pattern, '--json'], careless)
  const [shown] = cardOf(out).cases
  expect([code, shown.result, shown.reason]).toEqual([2, 'not_reached', expect.stringContaining(reason)])
  expect(shown.sent).toEqual([`1 x GET /v1/organization/mcp-servers ${sent}`])
})

test('a call that never succeeds is not passed: given up, or refused by the service itself', async () => {
  const flags = ['--run', 'read/server-error', '--json']
  const once = `${READER}\nread(0)`
  const gaveUp = await script(flags, once)
  const [shown] = cardOf(gaveUp.out).cases
  expect([gaveUp.code, shown.result]).toEqual([2, 'not_reached'])
  expect(shown.reason).toMatch(/never succeeded: it ended with 500, and the client gave up\. .*--retries 0/)
  expect(shown.sent).toEqual(['1 x GET /v1/organization/mcp-servers 500'])
  expect((await script([...flags, '--retries', '0'], once)).code).toBe(0)
  const unknown = READER.replace('{})', "{ key: 'other' })")
  const refused = await script(flags, `${unknown}\nconst pause = () => 1_020\nread(1)`)
  const reason = expect.stringContaining('ended with 401, which is no failure of the case')
  expect(cardOf(refused.out).cases).toMatchObject([{ result: 'not_reached', reason }])
})

test('a client that repeats a 401 until its time is over fails, although no response told it to wait', async () => {
  const loop = `${READER.replace('{})', "{ key: 'other' })")}
    ${await overAtLimit()}
    let attempts = 0
    const pause = () => (++attempts === 4 && over(), 300)
    read(1_000)`
  const { code, out } = await script(['--run', 'read/server-error', '--timeout', limit.flag], loop)
  expect([code, out]).toEqual([1, expect.stringMatching(/^FAILED +read\/server-error +retry\.pointless$/m)])
  // The sandbox is named after the case, which the line has already.
  expect(out).not.toContain('/@')
})

test('a crash of the client is a note, and an error that it reports is none', async () => {
  const served = `${READER}\nconst pause = () => 1_020\nread(1)`
  const flags = ['--run', 'read/server-error']
  const crash = await script(flags, `${served}.then(() => { throw new Error('lost') })`)
  expect(crash.code).toBe(0)
  expect(crash.out).toMatch(/^passed .*\n {4}note client\.ended: The process crashed, .* Error: lost$/m)
  const reported = await script(flags, `${served}.then(() => process.exit(3))`)
  expect([reported.code, reported.out]).toEqual([0, expect.not.stringContaining('client.ended')])
})

test('a skipped case is not run, and its reason is in the card and in JUnit', async () => {
  const skips = temporaryFile('skips', '# slow on our machines\n\nread/r*   We never send it.\n')
  const junit = join(temporaryDirectory(), 'certify.xml')
  const flags = ['--run', 'read/{rate-limited,slow}', '--skip-from', skips, '--junit', junit]
  const { code, out } = await certify(flags, process.execPath, '-e', "console.error('a < b')")
  expect(code).toBe(2)
  expect(out).toMatch(/^skipped +read\/rate-limited +We never send it\.$/m)
  const xml = readFileSync(junit, 'utf8')
  expect(xml).toContain('tests="2" failures="0" errors="1" skipped="1"')
  expect(xml).toContain('<skipped message="We never send it."/>')
  expect(xml).toContain('<error type="not_reached" message="The fault never fired: the client sent no ')
  expect(xml).toContain('<system-err>a &lt; b</system-err>')
})

test.for([
  ['read/*', 1, '"read/*" has no reason. Write why it is skipped after the pattern.'],
  ['# a\nread/slw  why', 2, 'no case matches "read/slw". Did you mean "read/slow"?'],
] as const)('the skip file %j is refused with its line', async ([text, line, problem]) => {
  const file = temporaryFile('skips', text)
  expect(await certify(['--skip-from', file], 'true')).toEqual(withError(1, `${file}:${line}: ${problem}`))
})

test.for([
  ['--run nothing/* -- true', 2, '--run: no case matches "nothing/*".'],
  ['true', 2, 'Put -- in front of the command'],
  ['--receiver http://203.0.113.1/ --secret s', 2, '--receiver: '],
  ['--receiver http://127.0.0.1:1/ --secret s --count http://203.0.113.1/', 2, '--count: '],
  ['', 2, 'is missing. Give the client after --'],
  ['--clients 0 -- true', 2, '--clients: "0" is not a count.'],
  ['--clients 2 --junit f -- true', 2, 'not the cases: leave out --junit.'],
  ['--run read/slow -- no-such-command', 1, 'There is no command "no-such-command" on the PATH.'],
  ['--run read/slow --junit /no/such/file -- true', 1, '/no/such/file cannot be written (ENOENT)'],
] as const)('certify %s ends with %i', async ([line, code, problem]) => {
  const words = line === '' ? [] : line.split(' ')
  const outcome = await command(['certify', ...words], { PATH })
  expect(outcome).toMatchObject({ code, err: expect.stringContaining(problem) })
})

test('copies share one limit: their attempts, simultaneous retries and the time until all are served', async () => {
  const { code, out } = await script(['--clients', '3', '--json'], CORRECT)
  expect(code).toBe(0)
  const report = cardOf(out)
  expect(report).toMatchObject({ clients: 3, limit_per_second: 1, served: 3, requests: expect.any(Number) })
  expect(report.refused).toBeGreaterThan(0)
  expect(report.attempts_per_call).toBeCloseTo(report.requests / 3, 1)
  expect(report.served_after_ms).toBeGreaterThan(1_000)
})

test('Ctrl-C ends certify with a summary of the cases that were run', async () => {
  // Only the first three runs of the client end: so many run at once.
  const file = temporaryFile('runs', '')
  const client = `const { appendFileSync, statSync } = require('node:fs')
    appendFileSync(${JSON.stringify(file)}, '.')
    if (statSync(${JSON.stringify(file)}).size > 3) setTimeout(() => {}, 60_000)`
  const argv = ['certify', '--timeout', '50s', '--', process.execPath, '-e', client]
  const { child, line, ended } = spawnCommand(argv)
  await line
  child.kill('SIGINT')
  const { code, out, err } = await ended
  expect(code).toBe(130)
  expect(err).toMatch(/^Stopped: \d+ of \d+ cases were not run\.$/m)
  expect(out).toMatch(/^\d+ not reached of \d+ cases? in /m)
})
