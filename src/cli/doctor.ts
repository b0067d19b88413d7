import { once } from 'node:events'
import { accessSync, constants, statfsSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { nearest } from '../adapters/storage/files.ts'
import { userOf } from '../adapters/storage/lock.ts'
import { callControlOver } from '../control-client/ask.ts'
import { EmulatorError } from '../control-client/emulator-error.ts'
import { nodeFetch } from '../control-client/node-fetch.ts'
import { overHttp } from '../control-client/over-http.ts'
import { FAILED, type Invocation, OK } from '../terminal/command.ts'
import { codeOf, columns, show, statusCell } from '../terminal/print.ts'
import type { DOCTOR_OPTIONS } from './local-options.ts'

/** `doctor`: checks everything that could prevent a start with the same options, and prints one line for each check. */
export async function doctor(invocation: Invocation<typeof DOCTOR_OPTIONS>): Promise<number> {
  const { options } = invocation
  const findings = [
    nodeVersion(process.versions.node),
    dataDirectory(options.data),
    freeSpace(options.data),
    lock(options.data),
    await port(options.host, options.port),
  ]
  const ok = findings.every((finding) => finding.ok)
  const rows = findings.map(({ check, ok, detail, fix = '' }) => [
    statusCell(ok ? 'ok' : 'problem'),
    check,
    `${detail} ${fix}`.trimEnd(),
  ])
  show(invocation, { ok, checks: findings }, columns(rows))
  return ok ? OK : FAILED
}

const MIN_SPACE = 64 * 1024 * 1024

/** The result of one check. A problem has a fix in `fix`. */
interface Finding {
  readonly check: string
  readonly ok: boolean
  readonly detail: string
  readonly fix?: string
}

export function nodeVersion(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major > 20 || (major === 20 && minor >= 19)) return fine('node', version)
  return problem('node', `Node ${version} is too old.`, 'Install Node 20.19 or newer.')
}

/** @param access throws if the path may not be used in the given mode */
export function dataDirectory(data: string, access: (path: string, mode: number) => void = accessSync) {
  const directory = resolve(data)
  const fix = 'give another directory with --data, or start with --ephemeral.'
  const standing = nearest(directory)
  for (const path of [standing, nearest(join(directory, 'snapshots'))])
    if (!statSync(path).isDirectory())
      return problem('data', `${path} is not a directory.`, `Move it away, ${fix}`)
  try {
    access(standing, constants.W_OK | constants.X_OK)
  } catch (error) {
    const detail = `${standing} cannot be written to (${codeOf(error)}).`
    return problem('data', detail, `Fix its permissions, ${fix}`)
  }
  return fine('data', standing === directory ? `${directory} is writable` : `${directory} can be created`)
}

function freeSpace(data: string): Finding {
  const { bavail, bsize } = statfsSync(nearest(resolve(data)))
  const shown = `${Math.floor((bavail * bsize) / 1024 / 1024)} MiB free`
  const fix = 'Free some space, give a directory on another disk with --data, or start with --ephemeral.'
  return bavail * bsize >= MIN_SPACE ? fine('space', shown) : problem('space', `${shown}.`, fix)
}

/** Whether a running process uses the data folder. */
export function lock(data: string): Finding {
  const folder = resolve(data)
  try {
    const user = userOf(folder)
    if (user === undefined) return fine('lock', `${folder} is not in use`)
    const fix = 'Stop it, or give another directory with --data.'
    return problem('lock', `${folder} is in use by ${user}.`, fix)
  } catch (error) {
    return problem('lock', (error as Error).message)
  }
}

/** Whether the port is free; otherwise whether an emulator uses it. */
export async function port(host: string, wanted: number): Promise<Finding> {
  const address = `${host.includes(':') ? `[${host}]` : host}:${wanted}`
  const server = createServer().listen({ host, port: wanted })
  const code = await once(server, 'listening').then(() => undefined, codeOf)
  server.close()
  if (code === undefined) return fine('port', wanted === 0 ? 'any free one' : `${address} is free`)
  if (code !== 'EADDRINUSE')
    return problem('port', `${address} cannot be listened on (${code}).`, 'Choose another --port or --host.')
  const version = await emulatorAt(`http://${address}`)
  if (version === undefined)
    return problem('port', `Another program listens on ${address}.`, 'Stop it, or choose another --port.')
  const fix = 'Use it, stop it, or choose another --port.'
  return problem('port', `An emulator ${version} already listens on ${address}.`, fix)
}

function fine(check: string, detail: string): Finding {
  return { check, ok: true, detail }
}

function problem(check: string, detail: string, fix?: string): Finding {
  return { check, ok: false, detail, ...(fix && { fix }) }
}

/** The version of the emulator at an address; undefined if there is none. */
async function emulatorAt(url: string): Promise<string | undefined> {
  try {
    const ask = callControlOver(overHttp({ url }, nodeFetch))
    return (await ask('GET /health', { signal: AbortSignal.timeout(10_000) })).version
  } catch (error) {
    const isLocked = error instanceof EmulatorError && error.code === 'unauthorized'
    return isLocked ? 'with a control token' : undefined
  }
}
