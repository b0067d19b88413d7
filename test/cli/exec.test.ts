import { chmodSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Environment } from '../../src/terminal/options.ts'
import {
  command,
  execClient,
  lastingCommand,
  temporaryDirectory,
  temporaryFile,
  withError,
} from './in-process.ts'

const PATH = process.env.PATH ?? ''

/** Without the warning about a command that sends no request. */
const QUIET = ['--log-level', 'error']

/** Runs `exec` in this process; its command runs in a separate one. */
function exec(flags: readonly string[], words: readonly string[], env: Environment = {}) {
  return command(['exec', ...flags, '--', ...words], { PATH, ...env })
}

/** Runs a script of Node as the command, and reads the JSON that it writes into the file `OUT`. */
async function execScript(script: string, flags: readonly string[] = [], env: Environment = {}) {
  const file = join(temporaryDirectory(), 'out.json')
  const write =
    "const write = (value) => require('fs').writeFileSync(process.env.OUT, JSON.stringify(value));"
  const outcome = await execClient([...QUIET, ...flags], write + script, { OUT: file, ...env })
  expect(outcome).toEqual({ code: 0, out: '', err: '' })
  return JSON.parse(readFileSync(file, 'utf8'))
}

test.for([
  [['true'], 0],
  [['sh', '-c', 'kill -9 $$'], 137],
  [['sh', '-c', 'kill -TERM $$'], 143],
] as const)('exec -- %j ends with its exit code and prints nothing else', async ([words, code]) => {
  expect(await exec(QUIET, words)).toEqual({ code, out: '', err: '' })
})

test.for([
  [[], 'exit 0', 0],
  [['--require-requests'], 'exit 0', 1],
  [['--require-requests'], 'exit 4', 4],
] as const)('exec %j -- sh -c "%s" without a request: %i', async ([flags, script, code]) => {
  expect(await exec(flags, ['sh', '-c', script])).toEqual(
    withError(code, 'WARN: No request came to the emulator. Does the command read WORKSPACE_BASE_URL?'),
  )
})

test('with --require-requests a command with a request succeeds without a warning', async () => {
  const script = "api('/data-views', { sandbox: 'w1' }).then((each) => each.text())"
  expect(await execClient(['--require-requests'], script)).toEqual({ code: 0, out: '', err: '' })
})

test('with --keep the emulator runs after the command until a signal, and the exit code is that of the command', async () => {
  const file = join(temporaryDirectory(), 'url')
  const script = `printf %s "$WORKSPACE_EMULATOR_URL $WORKSPACE_EMULATOR_KEEP" > ${file}; exit 3`
  const { hasSaid, stop } = lastingCommand(['exec', '--keep', '--', 'sh', '-c', script], { PATH })
  await hasSaid('The command ended with 3. The emulator still runs')
  const [url, keep] = readFileSync(file, 'utf8').split(' ')
  expect([(await fetch(`${url}/__emulator/ready`)).status, keep]).toEqual([200, 'true'])
  expect(await stop()).toEqual(withError(3, `${url}/__emulator/ui/`))
  await expect(fetch(`${url}/__emulator/ready`)).rejects.toThrow()
})

/** Runs a command that sends requests with the demo key, and fails. */
function execFailing(paths: readonly string[], env: Environment = {}, flags: readonly string[] = []) {
  const script = `for (const path of ${JSON.stringify(paths)}) await api(path)
    process.exit(3)`
  return execClient(flags, script, env)
}

async function execRecorded(paths: readonly string[], env: Environment = {}, flags: readonly string[] = []) {
  const directory = join(temporaryDirectory(), 'new', 'recordings')
  const outcome = await execFailing(paths, env, ['--record-failures', directory, ...flags])
  return { ...outcome, directory, file: join(directory, 'sandbox-default.json') }
}

test('with --record-failures a failed run writes what each sandbox has seen, and prints the commands that repeat it', async () => {
  const { code, err, directory, file } = await execRecorded(['/data-views', '/../@w2/v1/data-views'])
  const other = join(directory, 'sandbox-w2.json')
  const lines = [file, other].map((each) => `\n  npx agent-workspace-emulator replay ${each}`)
  expect([code, err]).toEqual([3, `Recordings of the sandboxes:${lines.join('')}`])
  for (const each of [file, other]) expect((await command(['replay', each])).out).toMatch(/^1 input /)
})

test('the newest 20 sandboxes are recorded', async () => {
  const paths = Array.from({ length: 22 }, (_, n) => `/../@w${n}/v1/data-views`)
  const { err, directory } = await execRecorded(paths)
  expect(err).toMatch(/^Recordings of the sandboxes, the newest 20 of 22:\n/)
  expect(readdirSync(directory)).toHaveLength(20)
  expect(existsSync(join(directory, 'sandbox-w1.json'))).toBe(false)
})

test('a recording is named in the summary, and in a GitHub workflow as an annotation', async () => {
  const json = await execRecorded(['/data-views'], {}, ['--json'])
  expect(JSON.parse(json.err)).toMatchObject({ exit_code: 3, recordings: [json.file] })
  const summary = join(temporaryDirectory(), 'summary.md')
  const workflow = { GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: summary }
  const { err, file } = await execRecorded(['/data-views'], workflow)
  const repeat = `npx agent-workspace-emulator replay ${file}`
  expect(err).toBe(`::notice title=Recordings of the sandboxes::${repeat}`)
  expect(readFileSync(summary, 'utf8')).toContain(`| \`${repeat}\` |`)
})

test('a run without requests, and one that succeeds, are not recorded', async () => {
  const { directory } = await execRecorded([])
  expect((await exec([...QUIET, '--record-failures', directory], ['true'])).err).toBe('')
  expect(readdirSync(directory)).toEqual([])
})

test.for([
  ['its recordings could not be written', 'record-failures', 'package.json', 'cannot be written (EEXIST)'],
  ['the emulator cannot start', 'fixtures', '/nowhere/sandbox.json', '/nowhere/sandbox.json: cannot be read'],
] as const)('the command does not run if %s', async ([, flag, value, message]) => {
  const file = join(temporaryDirectory(), 'ran')
  const { code, err } = await exec([`--${flag}`, value], ['touch', file])
  expect([code, err, existsSync(file)]).toEqual([1, expect.stringContaining(message), false])
})

test('recordings that cannot be written at the end are a warning, and the exit code is that of the command', async () => {
  const directory = join(temporaryDirectory(), 'recordings')
  const script = `
    await api('/data-views')
    require('fs').rmdirSync(${JSON.stringify(directory)})
    require('fs').writeFileSync(${JSON.stringify(directory)}, '')
    process.exit(3)`
  const warning = withError(3, `${directory} cannot be written (EEXIST)`)
  expect(await execClient(['--record-failures', directory], script)).toEqual(warning)
})

test('a failed run shows the requests that were refused, the last ten, with the reasons', async () => {
  const { code, out, err } = await execFailing(['/data-views', '/nowhere', '/skills/none'])
  expect([code, out]).toEqual([3, ''])
  const [title, ...lines] = err.split('\n')
  expect(title).toBe('The emulator refused 2 of 3 requests:')
  expect(lines[0]).toBe('  GET /v1/nowhere  404  default-000002')
  expect(lines[1]).toMatch(/^ {4}It was refused with 404 route_not_found by the step route: /)
  expect(lines).toContain('  GET /v1/skills/none  404  default-000003')
  expect(await execFailing(['/data-views'])).toEqual({ code: 3, out: '', err: '' })
  const many = await execFailing(Array.from({ length: 12 }, (_, n) => `/nowhere-${n}`))
  expect(many.err).toMatch(/^The emulator refused 12 of 12 requests; the last 10:\n {2}GET \/v1\/nowhere-2 /)
})

test('the report of a failed run counts the requests of sandboxes that were deleted', async () => {
  const script = `
    await control('POST', '/__emulator/sandboxes', { name: 'w1' })
    for (const path of ['/nowhere', '/data-views']) await api(path, { sandbox: 'w1' })
    await control('DELETE', '/__emulator/sandboxes/w1')
    await api('/nowhere')
    process.exit(3)`
  const { err } = await execClient([], script)
  expect(err.split('\n')[0]).toBe('The emulator refused 2 of 3 requests; the last 1:')
})

test('in a GitHub workflow, each refused request of a failed run is an annotation', async () => {
  const { err } = await execFailing(['/a%0Ab'], { GITHUB_ACTIONS: 'true' })
  expect(err).toMatch(/^::error title=GET \/v1\/a%250Ab {2}404 {2}default-000001::It was refused .*%0A/m)
})

test('the command gets the address and keys in its environment, in addition to the existing variables', async () => {
  const own = { OTHER: 'stays', WORKSPACE_API_KEY: 'the key of the real service' }
  const found = await execScript('write(process.env)', [], own)
  const { WORKSPACE_EMULATOR_URL: origin } = found
  expect(origin).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  expect(found).toMatchObject({
    OTHER: 'stays',
    WORKSPACE_BASE_URL: `${origin}/v1`,
    WORKSPACE_API_KEY: 'live_demo_owner',
    WORKSPACE_MEMBER_KEY: 'live_demo_member',
    WORKSPACE_SERVICE_KEY: 'service_demo',
  })
  expect(found).not.toHaveProperty('WORKSPACE_EMULATOR_CONTROL_TOKEN')
})

test('under a proxy the command gets a NO_PROXY for this machine, which keeps the names that were in it', async () => {
  const names = 'localhost,127.0.0.1,::1'
  const { NO_PROXY, no_proxy } = await execScript('write(process.env)', [], { no_proxy: 'intern.example' })
  expect([NO_PROXY, no_proxy]).toEqual([`intern.example,${names}`, `intern.example,${names}`])
  expect((await execScript('write(process.env)')).NO_PROXY).toBe(names)
})

test('a failed run without requests names the proxy that may have got them', async () => {
  const proxy = { HTTP_PROXY: 'http://proxy.example:3128' }
  const { err } = await execClient([], 'process.exit(3)', proxy)
  expect(err).toContain('HTTP_PROXY is set: a client that ignores NO_PROXY sends its requests to that proxy.')
})

test('the command gets the control token, both a given and a generated one', async () => {
  const script = `
    const { WORKSPACE_EMULATOR_URL: url, WORKSPACE_EMULATOR_CONTROL_TOKEN: token } = process.env
    const authorization = 'Bearer ' + token
    const { status } = await fetch(url + '/__emulator/clock', { headers: { authorization } })
    write({ status, url, token })`
  expect(await execScript(script, ['--control-token', 'mine'])).toMatchObject({ status: 200, token: 'mine' })
  const url = expect.stringMatching(/^http:\/\/127\.0\.0\.1:/)
  expect(await execScript(script, ['--host', '0.0.0.0'])).toMatchObject({ status: 200, url })
})

test('arguments after -- reach the command unchanged', async () => {
  const words = ['-h', '--json', '--port=1', '-V', '--', '', 'a  b', '$HOME', '*', 'exec', '--']
  const file = join(temporaryDirectory(), 'out.json')
  const script = "require('fs').writeFileSync(process.env.OUT, JSON.stringify(process.argv.slice(1)))"
  const argv = [process.execPath, '-e', script, '--', ...words]
  expect(await exec(QUIET, argv, { OUT: file })).toEqual({ code: 0, out: '', err: '' })
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(words)
})

const HELP = 'Run "workspace-emulator exec --help" for its arguments and flags.'

const NO_COMMAND =
  "missing required argument 'command': the program to run and its arguments, after --, without a shell: workspace-emulator exec -- npm test"

test.for([
  [['exec'], NO_COMMAND],
  [['exec', 'npm', 'test'], 'Put -- in front of the command: workspace-emulator exec [flags] -- npm test'],
  [['exec', '--prot', '0', '--', 'true'], "unknown option '--prot'\n(Did you mean --port?)"],
  [['exec', '--url', 'x', '--', 'true'], "unknown option '--url'"],
] as const)('%j is misuse', async ([argv, first]) => {
  expect(await command(argv)).toEqual({ code: 2, out: '', err: `${first}\n${HELP}` })
})

test.for([
  ['no-such-command', 127, 'There is no command "no-such-command" on the PATH.'],
  ['./no/such/file', 127, 'There is no file ./no/such/file.'],
  ['npm test && true', 127, "Shell syntax needs a shell: -- sh -c 'npm test && true'"],
  ['/', 126, '/ cannot be executed (EACCES).'],
  ['', 127, 'There is no command "" on the PATH.'],
] as const)('exec -- %j cannot be started: exit code %i', async ([word, code, reason]) => {
  expect(await exec([], [word])).toEqual(withError(code, reason))
})

test('a script with a missing interpreter has its own error', async () => {
  const script = temporaryFile('script', '#!/nowhere/interpreter\n')
  chmodSync(script, 0o755)
  const reason = `The interpreter in the first line of ${script} does not exist. Install it, or change that line.`
  expect(await exec([], [script])).toEqual(withError(126, reason))
})

test('a sandbox without keys leaves the variables unchanged and reports it', async () => {
  const sandbox = temporaryFile('sandbox.json', '{}')
  const file = join(temporaryDirectory(), 'out')
  const words = ['sh', '-c', `printf %s "$WORKSPACE_API_KEY" > ${file}`]
  const { code, err } = await exec(['--fixtures', sandbox], words, { WORKSPACE_API_KEY: 'own' })
  expect([code, readFileSync(file, 'utf8')]).toEqual([0, 'own'])
  expect(err).toContain(`${sandbox} contains no key of a user: WORKSPACE_API_KEY stays unchanged.`)
})

test('with --data the sandbox is kept, and --ephemeral wins over --data', async () => {
  const data = join(temporaryDirectory(), 'state')
  await exec(['--data', data, '--ephemeral'], ['true'])
  expect(existsSync(data)).toBe(false)
  await exec(['--seed', '7'], ['true'], { WORKSPACE_EMULATOR_DATA: data })
  expect(JSON.parse(readFileSync(join(data, 'default.json'), 'utf8')).seed).toBe(7)
})

test('a signal before the start of the command prevents the start', async () => {
  const file = join(temporaryDirectory(), 'out')
  const heard = process.listenerCount('SIGHUP')
  const outcome = exec(['--log-level', 'info'], ['touch', file])
  while (process.listenerCount('SIGHUP') === heard) await new Promise(setImmediate)
  process.emit('SIGHUP')
  expect(await outcome).toEqual(withError(129, 'SIGHUP: waiting for'))
  expect([existsSync(file), process.listenerCount('SIGHUP')]).toEqual([false, heard])
})
