import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import type { JsonObject } from '../../../src/core/json.ts'
import type { RunningEmulator } from '../../../src/emulator/emulator.ts'
import { workspaceService } from '../../../src/emulator/service.ts'
import { loggerTo } from '../../../src/terminal/logger.ts'
import { baseCollections } from '../../support/base-state.ts'
import { type Sent, send } from '../../support/send.ts'
import { atLeast, type Figure, none, type Proof, type Scale, tried } from '../proof.ts'
import { around, commands } from './commands.ts'
import { authorization, CORPUS, control, MARKUP, OBEYED, plant, type Shown, scenarios } from './corpus.ts'
import { against, withFolder } from './emulator.ts'

const AGENT = { id: 'agent-1', _emulator: { teamspace_id: 'ts-a' } }
const SANDBOX = {
  settings: { 'batch.unknown_files': 'accept' },
  fixtures: { collections: { ...baseCollections, agents: [AGENT] } } as unknown as JsonObject,
}

/** Content types that no browser displays as a page. */
const HARMLESS =
  /^(application\/(problem\+)?json(; charset=utf-8)?|application\/x-ndjson|text\/event-stream)$/

function isIn(value: unknown, text: string): boolean {
  if (value === text) return true
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([name, each]) => name === text || isIn(each, text))
}

/** Checks that a response has a type that no browser displays as a page. */
function judge(
  shown: Shown,
  what: string,
  { status, headers, text }: Pick<Sent, 'status' | 'headers' | 'text'>,
) {
  shown.responses += 1
  const type = String(headers['content-type'] ?? '')
  if (text !== '' && !HARMLESS.test(type)) shown.found.push(`${what} is of the type "${type}"`)
  if (status >= 500 && status !== 501) shown.found.push(`${what} got ${status}`)
  if (/^GET \/__emulator|^GET \/_x/.test(what) && headers['x-content-type-options'] !== 'nosniff')
    shown.found.push(`${what} may be sniffed`)
  const lines = type.includes('ndjson') ? text.split('\n').filter((line) => line !== '') : [text]
  for (const line of lines) if (line !== '' && !isJson(line)) shown.found.push(`${what} is not JSON`)
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Opens everything that a browser could: every reading route with every name, every GET of the API, and an unknown path. */
async function browse(shown: Shown): Promise<void> {
  const { emulator } = shown
  const idsIn = async (path: string): Promise<string[]> =>
    ((await control(shown, 'GET', path)).body.data as { id: string }[]).map(({ id }) => id)
  const values: Readonly<Record<string, readonly string[]>> = {
    collection: [...workspaceService.collections.keys()],
    request_id: await idsIn('/requests?limit=1000'),
    id: [...(await idsIn('/faults')).slice(0, 3), 'user-1', ...MARKUP],
    name: ['kept', ...MARKUP],
  }
  const { body } = await control(shown, 'GET', '/')
  const routes = body.routes as { method: string; path: string }[]
  const paths = routes.flatMap(({ method, path }) => (method === 'GET' ? expand(path, values) : []))
  const operations = [...workspaceService.operations.values()].filter(({ method }) => method === 'GET')
  paths.push(...operations.flatMap(({ path }) => expand(`/v1${path}`, { batch_id: batchIds(shown) })))
  paths.push('/', '/index.html', '/favicon.ico', '/robots.txt', '/v1', '/v1/', '/_x-steady/health', '/@w1')
  for (const text of CORPUS) {
    const inUrl = encodeURIComponent(text)
    paths.push(`/${inUrl}`, `/v1/${inUrl}`, `/__emulator/${inUrl}`, `/@${inUrl}/v1/data-views`)
  }
  const headers = { accept: 'text/html,application/xhtml+xml', 'sec-fetch-dest': 'document' }
  for (const path of paths.filter((each) => !each.endsWith('/events'))) {
    for (const authorized of [authorization, undefined]) {
      if (authorized === undefined && path.startsWith('/__emulator')) continue
      judge(
        shown,
        `GET ${path}`,
        await send({ emulator }, 'GET', path, { headers, authorization: authorized }),
      )
    }
  }
}

function batchIds({ emulator }: Shown): string[] {
  return [...emulator.sandbox.store.rows('batch_predictions').keys()].slice(0, 2)
}

function expand(path: string, values: Readonly<Record<string, readonly string[]>>): string[] {
  const [, name] = /\{(\w+)\}/.exec(path) ?? []
  if (name === undefined) return [path]
  return (values[name] ?? ['x']).flatMap((value) =>
    expand(path.replace(`{${name}}`, encodeURIComponent(value)), values),
  )
}

/** Errors of the HTTP parser come from other code, and must not be pages either. */
async function wire(shown: Shown): Promise<void> {
  const { port } = shown.emulator
  for (const text of MARKUP.filter((each) => /^[\x20-\x7e]*$/.test(each))) {
    for (const bytes of [
      `${text}\r\n\r\n`,
      `GET /${text} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`,
      `GET / HTTP/1.1\r\nHost: ${text}\r\n\r\n`,
      `GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${text}: x\r\n\r\n`,
      `CONNECT ${text} HTTP/1.1\r\nHost: x\r\n\r\n`,
    ]) {
      const socket = connect(port, '127.0.0.1')
      socket.on('error', () => {})
      let said = ''
      socket.setEncoding('utf8').on('data', (chunk) => {
        said += chunk
      })
      socket.end(bytes)
      await once(socket, 'close')
      const [head = '', body = ''] = said.split('\r\n\r\n')
      const type = /^content-type: (.*)$/im.exec(head)?.[1]?.trim()
      judge(shown, `bytes ${JSON.stringify(bytes)}`, {
        status: Number(head.split(' ')[1]),
        headers: { 'content-type': type },
        text: body,
      })
    }
  }
}

/** Reads the corpus back as data, and each event of the stream. */
async function readBack(shown: Shown, feed: string): Promise<number> {
  const { body } = await control(shown, 'GET', '/state')
  const there = CORPUS.filter((text) => isIn(body, text)).length
  const blocks = feed.split('\n\n').filter((block) => block !== '' && !block.startsWith(':'))
  for (const block of blocks.slice(0, -1)) {
    const [, type, data = ''] = /^id: \d+\nevent: (\w+)\ndata: ([^\r\n]+)$/.exec(block) ?? []
    if (type === undefined || type === 'evil' || !isJson(data)) shown.found.push(`the feed has ${block}`)
  }
  if (blocks.length < 50) shown.found.push(`the feed has ${blocks.length} events only`)
  return there
}

async function run(scale: Scale): Promise<readonly Figure[]> {
  const found: string[] = []
  const logged: string[] = []
  const logger = loggerTo({
    level: 'debug',
    format: 'pretty',
    colours: false,
    write: (line) => void logged.push(line),
  })
  const figures = await withFolder((folder) => {
    const options = {
      data: join(folder, 'data'),
      scenarios: scenarios(folder),
      limits: false,
      logger,
      ...SANDBOX,
    }
    return against(options, async ({ emulator }) => {
      const shown: Shown = { emulator, found, responses: 0, commands: 0 }
      const feed = await follow(emulator)
      await plant(shown)
      await control(shown, 'POST', '/snapshots', { name: 'kept' })
      await control(shown, 'POST', '/scenarios/says/start')
      await control(shown, 'POST', '/clock/advance', { by: '2s' })
      await browse(shown)
      await wire(shown)
      await commands(shown, folder, scale)
      const there = await readBack(shown, feed.text())
      feed.close()
      return [
        tried('responses checked as in a browser', shown.responses),
        tried('commands', shown.commands),
        atLeast('texts returned as data', there, CORPUS.length),
      ]
    })
  })
  const obeyed = logged.filter((line) => OBEYED.test(line.trimEnd()))
  found.push(...obeyed.map((line) => `logged ${around(line)}`))
  return [
    ...figures,
    atLeast('lines logged', logged.length, CORPUS.length),
    none(`not shown as plain text${found.length === 0 ? '' : `: ${found[0]}`}`, found.length),
  ]
}

async function follow({ port }: RunningEmulator) {
  const socket = connect(port, '127.0.0.1')
  let text = ''
  socket.on('error', () => {})
  socket.setEncoding('utf8').on('data', (chunk) => {
    text += chunk
  })
  socket.write(`GET /__emulator/events HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`)
  while (!text.includes('event: hello')) await once(socket, 'data')
  // The body is chunked; the text without the chunk lengths is the stream.
  const body = () => text.slice(text.indexOf('\r\n\r\n') + 4).replaceAll(/(?:^|\r\n)[0-9a-f]+\r\n/g, '')
  return { text: body, close: () => socket.destroy() }
}

export const x5: Proof = {
  id: 'X5',
  promise: 'Text of a caller is always shown as plain text, in a browser, a terminal and a log.',
  run,
}
