import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { connect } from 'node:net'
import { join } from 'node:path'
import zlib from 'node:zlib'
import { expect, test } from 'vitest'
import { command, temporaryDirectory } from '../cli/in-process.ts'
import { spawnCommand } from '../cli/process.ts'
import { KEYS } from '../real-service/record.ts'
import { RealService } from '../real-service/service.ts'
import { listening, REAL, recordingFolder, recordScript, serving } from './proxy.ts'

const json = { 'content-type': 'application/json' }

const contentsOf = (entries: { response: { content: { text?: string } } }[]) =>
  entries.map(({ response }) => response.content)

test('a command talks to the service through the proxy, and the recording has no difference that blames the emulator', async () => {
  const { base, close } = await new RealService().listen()
  const folder = recordingFolder(`
    for (const path of ['/organization/mcp-servers', '/data-views?limit=3', '/organization/teamspaces/ts_north/users?limit=5'])
      await (await call(path)).text()
    process.exitCode = 7`)
  const env = { PATH: process.env.PATH ?? '', REAL_KEY: KEYS[0] }
  const { code, err } = await command(folder.argv(base), env)
  await close()
  expect(code).toBe(7)
  const har = folder.har() ?? ''
  expect(err).toContain(`3 exchanges written to ${har}. Next: workspace-emulator drift ${har}`)
  expect(statSync(har).mode & 0o777).toBe(0o600)
  const { findings, compared } = JSON.parse((await command(['drift', har, '--json'])).out)
  expect([findings.filter(({ blame }: { blame: string }) => blame !== 'open'), compared]).toEqual([[], 3])
})

test('the real key is in no file, child or output', async () => {
  let received: string | undefined
  const port = await serving((request, response) => {
    received = request.headers.authorization
    response.writeHead(200, { ...json, 'set-cookie': 'session=Zx81kQpLmN55' })
    response.end(JSON.stringify({ echo: received, id: 'x', api_key: 'other-S3cret-0042' }))
  })
  const { folder, out, err, said, entries } = await recordScript(
    `http://127.0.0.1:${port}/v1`,
    `await (await call('/data-views?token=Q8sZ1mT4vB7n')).text(); say({ env: process.env, argv: process.argv })`,
  )
  expect(received).toBe(`Bearer ${REAL}`)
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((each) => join(folder, each))
    .filter((each) => statSync(each).isFile())
  const texts = files.map((each) => readFileSync(each, 'utf8'))
  const all = [...texts, out, err, JSON.stringify(said())].join('\n')
  for (const secret of [REAL, 'Zx81kQpLmN55', 'other-S3cret-0042']) expect(all).not.toContain(secret)
  expect(JSON.stringify(entries())).not.toContain('Q8sZ1mT4vB7n')
  for (const name of ['REAL_KEY', 'COPY_OF_KEY']) expect(said().env).not.toHaveProperty(name)
  expect(entries()).toHaveLength(1)
})

test('writes are refused without --writes, and reach the service with it', async () => {
  const got: string[] = []
  const port = await serving(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    got.push(`${request.method} ${body}`)
    response.writeHead(200, json).end('{}')
  })
  const script = `say((await call('/pages', { method: 'POST', body: '{"name":"x"}', headers: { 'content-type': 'application/json' } })).status)`
  const refused = await recordScript(`http://127.0.0.1:${port}/v1`, script)
  expect([refused.said(), got, refused.har()]).toEqual([403, [], undefined])
  expect(refused.err).toContain('1 write refused: --writes lets them pass.')
  const passed = await recordScript(`http://127.0.0.1:${port}/v1`, script, '--writes')
  expect([passed.said(), got]).toEqual([200, ['POST {"name":"x"}']])
  expect(passed.entries()[0].request.postData.text).toBe('{"name":"x"}')
})

const zstd = (zlib as unknown as { zstdCompressSync?: (text: string) => Buffer }).zstdCompressSync
const TEXT = '{"object":"list","data":[]}'
const ENCODINGS: Readonly<Record<string, Buffer>> = {
  gzip: zlib.gzipSync(TEXT),
  br: zlib.brotliCompressSync(TEXT),
  deflate: zlib.deflateSync(TEXT),
  'deflate, gzip': zlib.gzipSync(zlib.deflateSync(TEXT)),
  zstd: zstd?.(TEXT) ?? Buffer.from('28b52ffd', 'hex'),
  unknown: Buffer.from('?'),
  identity: Buffer.from(TEXT),
}

test('bodies are decoded in the recording, and reach the client as they were sent', async () => {
  const port = await serving((request, response) => {
    const encoding = decodeURIComponent(/encoding=([^&]*)/.exec(request.url ?? '')?.[1] ?? '')
    response.writeHead(200, { ...json, 'content-encoding': encoding }).end(ENCODINGS[encoding])
  })
  const { entries, said } = await recordScript(
    `http://127.0.0.1:${port}/v1`,
    `import { get } from 'node:http'
    const sizes = []
    for (const each of ${JSON.stringify(Object.keys(ENCODINGS))})
      sizes.push(await new Promise((resolve) => get(base + '/data-views?encoding=' + encodeURIComponent(each), async (response) => {
        let size = 0
        for await (const chunk of response) size += chunk.length
        resolve(size)
      })))
    say(sizes)`,
  )
  expect(said()).toEqual(Object.values(ENCODINGS).map(({ length }) => length))
  const texts = contentsOf(entries()).map(({ text }) => text)
  const unknown = zstd === undefined ? undefined : TEXT
  expect(texts).toEqual([TEXT, TEXT, TEXT, TEXT, unknown, undefined, TEXT])
})

test('a request that the client aborts ends at the service, is recorded without its body, and others go on', async () => {
  const ended: string[] = []
  const port = await serving((request, response) => {
    response.writeHead(200, json)
    if (!request.url?.includes('slow')) return void response.end(TEXT)
    response.write('{"object":')
    response.on('close', () => ended.push(request.url ?? ''))
  })
  const { entries, code } = await recordScript(
    `http://127.0.0.1:${port}/v1`,
    `const abort = new AbortController()
    const slow = await call('/data-views?slow=1', { signal: abort.signal })
    abort.abort()
    await slow.text().catch(() => {})
    await (await call('/data-views')).text()`,
  )
  expect([code, ended]).toEqual([0, ['/v1/data-views?slow=1']])
  const contents = contentsOf(entries())
  expect(contents).toContainEqual({ size: -1, mimeType: 'application/json' })
  expect(contents).toContainEqual({ size: TEXT.length, mimeType: 'application/json', text: TEXT })
})

test('a service that cannot be reached is a 502 with the reason, and a command that sends nothing is told what it needs', async () => {
  const { said, err } = await recordScript(
    'http://127.0.0.1:2/v1',
    `const r = await call('/data-views'); say([r.status, await r.json()])`,
  )
  const message = 'http://127.0.0.1:2 cannot be reached (ECONNREFUSED).'
  expect(said()).toMatchObject([502, { message }])
  expect(err).toContain('Does the command read WORKSPACE_BASE_URL and WORKSPACE_API_KEY?')
})

/** A certificate for 127.0.0.1 of an authority of its own. */
function certificate() {
  const folder = temporaryDirectory()
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const request = 'req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=test'.split(' ')
  const names = ['-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost', '-keyout', key, '-out', cert]
  execFileSync('openssl', [...request, ...names], { stdio: 'ignore' })
  return { cert, options: { key: readFileSync(key), cert: readFileSync(cert) } }
}

test('a service with TLS and a private authority is recorded with NODE_EXTRA_CA_CERTS, also through HTTPS_PROXY', async () => {
  const { cert, options } = certificate()
  const server = createTlsServer(options, (request: IncomingMessage, response) =>
    response.writeHead(request.headers.authorization === `Bearer ${REAL}` ? 200 : 401, json).end(TEXT),
  )
  const port = await listening(server as unknown as Server)
  const tunnels: string[] = []
  const proxy = createServer()
  proxy.on('connect', (request, socket) => {
    tunnels.push(`${request.url} ${request.headers['proxy-authorization']}`)
    const target = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      target.pipe(socket).pipe(target)
    })
    socket.on('error', () => target.destroy())
    target.on('error', () => socket.destroy())
  })
  const proxyPort = await listening(proxy)
  const run = async (host: string, env: Readonly<Record<string, string>>) => {
    const folder = recordingFolder(`say((await call('/data-views')).status)`)
    const { ended } = spawnCommand(folder.argv(`https://${host}:${port}/v1`), { REAL_KEY: REAL, ...env })
    await ended
    return folder.said()
  }
  expect(await run('127.0.0.1', { NODE_EXTRA_CA_CERTS: cert })).toBe(200)
  expect(await run('127.0.0.1', {})).toBe(502)
  const HTTPS_PROXY = `http://user:p%40ss@127.0.0.1:${proxyPort}`
  expect(await run('localhost', { NODE_EXTRA_CA_CERTS: cert, HTTPS_PROXY })).toBe(200)
  const login = Buffer.from('user:p@ss').toString('base64')
  expect(tunnels).toEqual([`localhost:${port} Basic ${login}`])
  expect(await run('127.0.0.1', { NODE_EXTRA_CA_CERTS: cert, HTTPS_PROXY, NO_PROXY: '127.0.0.1' })).toBe(200)
  expect(tunnels).toHaveLength(1)
})

test('requests outside of the base URL do not reach the service', async () => {
  const got: string[] = []
  const port = await serving((request, response) => {
    got.push(request.url ?? '')
    response.writeHead(200, json).end('{}')
  })
  const { said } = await recordScript(
    `http://127.0.0.1:${port}/v1`,
    `const { origin } = new URL(base)
    say([(await fetch(origin + '/admin')).status, (await fetch(origin + '/v1x/y')).status])`,
  )
  expect([said(), got]).toEqual([[404, 404], []])
})
