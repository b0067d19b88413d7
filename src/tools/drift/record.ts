import { closeSync, openSync, writeSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pipeline, type Readable } from 'node:stream'
import { packageVersion } from '../../adapters/package.ts'
import { Placeholders } from '../../core/record/placeholders.ts'
import { isSecretName, mapCredentials, mapSecretsInText } from '../../core/redaction.ts'
import { REDACTED } from '../../core/secrets.ts'
import { elapsedTime, hostTime } from '../../core/time/clock.ts'
import { formatInstant } from '../../core/time/instant.ts'
import { counted } from '../../core/words.ts'
import { commandAfterDashes, type Invocation } from '../../terminal/command.ts'
import { Child } from '../../terminal/exec-child.ts'
import { isNpmScript, UsageError } from '../../terminal/options.ts'
import { codeOf } from '../../terminal/print.ts'
import { onSignals } from '../../terminal/signals.ts'
import { requireWritable } from '../../terminal/text-file.ts'
import type { DRIFT_RECORD_OPTIONS } from '../options.ts'
import { harContent, type LiveService, MAX_KEPT, requestTo, serviceOf } from './connection.ts'

/** What the command gets in the place of the key. */
const PLACEHOLDER = 'recorded-by-drift'

/** Headers about one connection. */
const HOP = ['connection', 'keep-alive', 'proxy-authorization', 'proxy-connection', 'te', 'upgrade', 'host']

/** `drift record`: runs a command whose requests go to the service through a proxy, which records them. */
export async function recordDrift(invocation: Invocation<typeof DRIFT_RECORD_OPTIONS>): Promise<number> {
  const { options, env, terminal } = invocation
  const command = commandAfterDashes('drift record', invocation)
  if (options.against === undefined)
    throw new UsageError([
      '--against is missing. Give the base URL of the service, such as https://api.example.com/v1.',
    ])
  const service = serviceOf(options.against, options.keyEnv, env)
  requireWritable(options.out, 'out')
  const file = join(options.out, `${formatInstant(hostTime()).replaceAll(':', '-')}.har`)
  const recorder = new Recorder(service, file, options.writes)
  const server = createServer((request, response) => recorder.serve(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  // Whatever variable has the key, the command does not get it.
  const others = Object.entries(env).filter(([, value]) => !value?.includes(service.key))
  const child = new Child()
  const stopListening = onSignals((signal) => child.interrupt(signal), isNpmScript(env))
  const { code, failure } = await child.run(command, {
    ...Object.fromEntries(others),
    WORKSPACE_BASE_URL: `http://127.0.0.1:${port}${service.path}`,
    WORKSPACE_API_KEY: PLACEHOLDER,
  })
  stopListening()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  recorder.close()
  if (failure !== undefined) terminal.err(failure)
  const { recorded, refused } = recorder
  terminal.err(
    recorded === 0
      ? 'Nothing was recorded. Does the command read WORKSPACE_BASE_URL and WORKSPACE_API_KEY?'
      : `${counted(recorded, 'exchange')} written to ${file}. Next: workspace-emulator drift ${file}`,
  )
  if (refused > 0) terminal.err(`${counted(refused, 'write')} refused: --writes lets them pass.`)
  return code
}

/** A proxy to one service that writes each exchange to a HAR file. */
class Recorder {
  readonly #service: LiveService
  readonly #file: string
  readonly #writes: boolean
  readonly #secrets = new Placeholders()
  #handle: number | undefined
  #isClosed = false
  recorded = 0
  refused = 0

  constructor(service: LiveService, file: string, writes: boolean) {
    this.#service = service
    this.#file = file
    this.#writes = writes
    this.#secrets.add(service.key)
  }

  serve(request: IncomingMessage, response: ServerResponse): void {
    const { method = 'GET', url = '/', headers } = request
    const { origin, path, key } = this.#service
    if (!this.#writes && !['GET', 'HEAD'].includes(method)) {
      this.refused += 1
      refuse(response, 403, `${method} is refused: --writes lets writes pass.`)
      return
    }
    if (!url.startsWith(`${path}/`)) {
      refuse(response, 404, `The service is below ${path}.`)
      return
    }
    const [startedDateTime, began] = [formatInstant(hostTime()), elapsedTime()]
    const isOurs = headers.authorization === `Bearer ${PLACEHOLDER}`
    const sent = kept(request)
    const upstream = requestTo(this.#service, url.slice(path.length), {
      method,
      headers: { ...without(headers), ...(isOurs && { authorization: `Bearer ${key}` }) },
    })
    request.pipe(upstream)
    upstream.on('error', (error) => {
      if (response.headersSent) response.destroy()
      else refuse(response, 502, `${origin} cannot be reached (${codeOf(error)}).`)
    })
    response.on('close', () => upstream.destroy())
    upstream.on('response', (answer) => {
      const { statusCode: status = 0, headers: received } = answer
      const body = kept(answer)
      response.writeHead(status, without(received))
      pipeline(answer, response, (error) => {
        const content = harContent(
          error ? undefined : body.bytes(),
          received['content-encoding'],
          received['content-type'],
        )
        this.#write({
          ...{ startedDateTime, time: Math.round(elapsedTime() - began) },
          request: {
            method,
            url: origin + url,
            headers: pairs(headers),
            postData: harContent(sent.bytes(), headers['content-encoding'], headers['content-type']),
          },
          response: { status, headers: pairs(received), content },
        })
      })
    })
  }

  close(): void {
    this.#isClosed = true
    if (this.#handle === undefined) return
    writeSync(this.#handle, '\n]}}\n')
    closeSync(this.#handle)
  }

  /** Each at once, so that a long run needs no memory and an interrupted one is not lost. */
  #write(entry: object): void {
    if (this.#isClosed) return
    const creator = { name: 'agent-workspace-emulator', version: packageVersion() }
    const start = `{"log": {"version": "1.2", "creator": ${JSON.stringify(creator)}, "entries": [\n`
    this.#handle ??= openSync(this.#file, 'wx', 0o600)
    const hidden = (secret: string) => (secret === PLACEHOLDER ? secret : this.#secrets.of(secret))
    const text = (value: unknown) =>
      typeof value === 'string' ? this.#secrets.in(mapSecretsInText(value, hidden)) : value
    writeSync(
      this.#handle,
      (this.recorded === 0 ? start : ',\n') + JSON.stringify(entry, (_, value) => text(value)),
    )
    this.recorded += 1
  }
}

function refuse(response: ServerResponse, status_code: number, message: string): void {
  const body = { status_code, error: 'refused_by_drift', message, retryable: false, details: {} }
  response.writeHead(status_code, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

const without = (headers: IncomingMessage['headers']) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP.includes(name)))

/** The bytes that go through a stream, as long as they are few. */
function kept(stream: Readable) {
  let chunks: Buffer[] | undefined = []
  let size = 0
  stream.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size > MAX_KEPT) chunks = undefined
    chunks?.push(chunk)
  })
  return { bytes: () => chunks && Buffer.concat(chunks) }
}

function pairs(headers: IncomingMessage['headers']) {
  return Object.entries(headers).map(([name, value = '']) => {
    const text = String(value)
    const isKept = !isSecretName(name) || text === `Bearer ${PLACEHOLDER}`
    return { name, value: isKept ? text : mapCredentials(text, () => REDACTED) }
  })
}
