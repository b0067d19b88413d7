import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { refusalLines, refusalsOf } from '../../src/cli/exec-summary.ts'
import { connect } from '../../src/index.ts'
import { loggerTo } from '../../src/terminal/logger.ts'
import { Tally } from '../../src/terminal/tally.ts'
import { reportOn } from '../../src/testing/report.ts'
import { command, temporaryDirectory } from '../cli/in-process.ts'
import { openRunning } from '../cli/running.ts'

/** The secrets of this test, by the places that they are in. */
const planted = new Map<string, string>()

function plant(place: string, prefix = ''): string {
  const secret = `${prefix}Pl4nted-${String(planted.size + 1).padStart(2, '0')}x`
  planted.set(place, secret)
  return secret
}

/** Sends a request as it is: `fetch` refuses some of these headers. */
function send(url: string, method: string, headers: Record<string, string>, body = ''): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers }, (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode ?? 0))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

const KEY = 'live_demo_owner'

async function plantInRequests(base: string): Promise<void> {
  const json = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' }
  await send(`${base}/data-views`, 'GET', { authorization: `Bearer ${plant('authorization', 'live_')}` })
  await send(`${base}/data-views`, 'GET', {
    authorization: `Bearer ${KEY}`,
    'proxy-authorization': `Basic ${plant('proxy-authorization')}`,
    cookie: `session=${plant('the first cookie')}; theme=${plant('the second cookie')}`,
    'x-api-key': plant('x-api-key'),
    'X-Auth-Token': plant('x-auth-token'),
    'x-client-secret': plant('x-client-secret'),
    referer: `http://127.0.0.1/?access_token=${plant('referer')}`,
  })
  const query = [
    ...['token', 'access_token', 'api_key', 'apiKey', 'client_secret', 'password'].map(
      (name) => `${name}=${plant(`the parameter ${name}`)}`,
    ),
    `secret=a&secret=${plant('a repeated parameter')}`,
  ]
  for (const one of query) await send(`${base}/data-views?${one}`, 'GET', json)
  const redirect = 'redirect_uri=http%3A%2F%2F127.0.0.1'
  await send(`${base}/oauth/callback?${redirect}&code=${plant('the code of a redirect')}`, 'GET', json)
  const body = {
    name: 'Roof plan',
    password: plant('password'),
    login: { api_key: plant('a field inside'), clientSecret: plant('clientSecret') },
    list: [{ token: plant('a field in a list') }, { tokens: 5, token: [plant('a list of tokens')] }],
    refresh_token: plant('refresh_token'),
    text: `{"private_key": "${plant('JSON in a text')}"}`,
    url: `https://me:${plant('a password in a URL')}@127.0.0.1/?sig=1&auth_token=${plant('a parameter in a URL')}`,
    note: `Authorization: Bearer ${plant('a header in a text')}`,
  }
  expect(await send(`${base}/pages`, 'POST', json, JSON.stringify(body))).toBe(200)
  const [code, state] = [plant('the code of OAuth'), plant('the state of OAuth')]
  const grant = { grant_type: 'authorization_code', code, state, code_verifier: plant('code_verifier') }
  await send(`${base}/oauth/token`, 'POST', json, JSON.stringify(grant))
  const form = { ...json, 'content-type': 'application/x-www-form-urlencoded' }
  await send(`${base}/pages`, 'POST', form, `a=1&password=${plant('a form')}`)
  await send(`${base}/pages`, 'POST', json, `{"password": "${plant('broken JSON')}", `)
  await send(`${base}/pages/${plant('a key in a path', 'live_')}`, 'GET', json)
  const echoed = plant('a token that is also in the path')
  await send(`${base}/batch-predictions/${echoed}?token=${echoed}`, 'GET', json)
  const wrong = plant('a token that is also the name of a field')
  await send(`${base}/batch-predictions`, 'POST', json, JSON.stringify({ token: wrong, [wrong]: wrong }))
}

/** Secrets in what the user gives to the emulator itself, which it must keep. */
async function plantInDocuments(url: string): Promise<void> {
  const call = async (path: string, body: object) => {
    const sent = { method: 'POST', body: JSON.stringify(body) }
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`${url}/__emulator${path}`, { headers, ...sent })
    expect(response.ok ? '' : await response.text(), path).toBe('')
  }
  await call('/webhooks', {
    url: `http://127.0.0.1:9/hook?token=${plant('the URL of a webhook')}`,
    secret: plant('the secret of a webhook'),
  })
  await call('/stubs', {
    method: 'POST',
    path: '/converse',
    status: 200,
    headers: { 'set-cookie': `s=${plant('a cookie')}`, 'x-access-token': plant('a header of a stub') },
    body: { access_token: plant('the body of a stub') },
  })
  await call('/faults', {
    id: 'broken',
    match: { operation: 'teamspace-users.list' },
    do: [{ respond: { status: 500, body: { client_secret: plant('the body of a fault') } } }],
  })
  await call('/scenarios/planted/start', {})
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' }
  await send(`${url}/v1/converse`, 'POST', headers, '{}')
  await send(`${url}/v1/organization/teamspaces/teamspace-harbor/users`, 'GET', headers)
}

function plantInFolder(link: string): string {
  const folder = temporaryDirectory()
  const outside = join(temporaryDirectory(), 'outside.ts')
  writeFileSync(outside, `export default '${plant('a link out of the folder')}'`)
  mkdirSync(join(folder, 'lib'))
  writeFileSync(join(folder, 'lib/used.ts'), `export const apiKey = '${plant('a file that is imported')}'`)
  writeFileSync(join(folder, 'lib/other.ts'), `export const x = '${plant('a file that is not imported')}'`)
  writeFileSync(join(folder, 'notes.json'), JSON.stringify({ x: plant('a file that is no scenario') }))
  symlinkSync(outside, join(folder, 'lib/link.ts'))
  execFileSync('mkfifo', [join(folder, 'pipe.ts')])
  writeFileSync(
    join(folder, 'planted.ts'),
    `import { defineScenario } from 'agent-workspace-emulator'
import { apiKey } from './lib/used.ts'
${link}
export default defineScenario({ description: String(apiKey.length) })`,
  )
  return folder
}

function textsBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'utf8'))
}

test('40 secrets in 40 places are in no file, log or output', async () => {
  planted.clear()
  const data = temporaryDirectory()
  const lines: string[] = []
  const write = (line: string) => void lines.push(line)
  const logger = loggerTo({ level: 'debug', format: 'json', colours: false, write })
  const scenarios = plantInFolder("import './lib/link.ts'")
  const options = { fixtures: 'demo', ephemeral: false, data, scenarios, logger }
  const { emulator, url, run } = await openRunning(options)
  const tallied = new Tally()
  tallied.watch(emulator.sandbox)
  await plantInRequests(`${url}/v1`)
  const sent = [...planted.values()]
  await plantInDocuments(url)
  const { defaultSandbox: sandbox } = await connect(url)
  const { requests } = sandbox
  const explained = await Promise.all((await requests.list()).map(({ id }) => requests.explain(id)))
  const outputs: Record<string, string> = {
    explain: JSON.stringify(explained),
    log: JSON.stringify(await (await fetch(`${url}/__emulator/requests?full=true&limit=100`)).json()),
    'log on the terminal': (await run('requests', '--limit', '100')).out,
    HAR:
      (await run('requests', 'export')).out + (await (await fetch(`${url}/__emulator/requests/har`)).text()),
    recording: (await run('record')).out,
    conduct: (await run('conduct')).out + (await run('conduct', '--json')).out,
    'report of a test': await reportOn(sandbox),
    'report of exec': refusalLines(await refusalsOf(emulator), tallied, true).join('\n'),
    'log of the process': lines.join(''),
  }
  await emulator.close()
  const leaks = (secrets: Iterable<string>, text: string) =>
    [...secrets].filter((each) => text.includes(each))
  const places = new Map([...planted].map(([place, secret]) => [secret, place]))
  const found = Object.entries(outputs).flatMap(([output, text]) => {
    expect(text.length, output).toBeGreaterThan(output === 'log of the process' ? 0 : 100)
    return leaks(planted.values(), text).map((secret) => `${output}: ${places.get(secret)}`)
  })
  // The data folder must have what the user gave to the emulator itself.
  const inFiles = leaks(sent, textsBelow(data).join('')).map((secret) => `data: ${places.get(secret)}`)
  expect([...found, ...inFiles]).toEqual([])
  expect(planted.size).toBeGreaterThanOrEqual(40)
  expect(outputs.recording).not.toContain(KEY)
  const { scenarios: files } = JSON.parse(outputs.recording ?? '')
  expect(Object.keys(files)).toEqual(['planted.ts', 'lib/used.ts'])
})

test('a recording with 40 secrets replays byte for byte', async () => {
  planted.clear()
  const { emulator, url, run } = await openRunning({ fixtures: 'demo', scenarios: plantInFolder('') })
  await plantInDocuments(url)
  await plantInRequests(`${url}/v1`)
  const file = join(temporaryDirectory(), 'recording.json')
  await run('record', '-o', file)
  await emulator.close()
  const { out } = await command(['replay', file, '--run-scripts'])
  expect(out).toMatch(/^\d\d inputs repeated: every output is the same, byte for byte\.$/)
})
