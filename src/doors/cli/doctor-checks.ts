import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { hostTime } from '../../kernel/time/clock.ts'
import { formatInstant } from '../../kernel/time/instant.ts'
import { readFixtures, SHIPPED_WORLDS } from '../fixtures.ts'
import { isRunning } from '../process-identity.ts'
import { send } from './control-client.ts'
import { readJsonFile } from './json-files.ts'

const OLDEST_NODE = [20, 19] as const
const LEAST_SPACE = 64 * 1024 * 1024

/** Nothing of this was written before; a host that says so has lost its time. */
const EARLIEST = Date.parse('2025-01-01T00:00:00Z')

/** What one check has found. A problem names the way out. */
export interface Finding {
  readonly check: string
  readonly ok: boolean
  readonly detail: string
  readonly way_out?: string
}

export function nodeVersion(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [oldest, least] = OLDEST_NODE
  if (major > oldest || (major === oldest && minor >= least)) return fine('node', version)
  return problem('node', `Node ${version} is too old.`, `Install Node ${OLDEST_NODE.join('.')} or newer.`)
}

/** @param access throws where the path may not be used that way */
export function dataDirectory(
  data: string,
  access: (path: string, mode: number) => void = accessSync,
): Finding {
  const directory = resolve(data)
  const wayOut = 'Mend it, give another directory with --data, or start with --ephemeral.'
  const standing = nearest(directory)
  if (!statSync(standing).isDirectory()) return problem('data', `${standing} is not a directory.`, wayOut)
  try {
    access(standing, constants.W_OK | constants.X_OK)
  } catch (error) {
    return problem('data', `${standing} cannot be written to (${codeOf(error)}).`, wayOut)
  }
  return fine('data', standing === directory ? `${directory} is writable` : `${directory} can be made`)
}

export function freeSpace(data: string): Finding {
  const { bavail, bsize } = statfsSync(nearest(resolve(data)))
  const free = bavail * bsize
  const shown = `${Math.floor(free / 1024 / 1024)} MiB free`
  if (free >= LEAST_SPACE) return fine('space', shown)
  return problem('space', `${shown}.`, 'Free some, give another disk with --data, or start with --ephemeral.')
}

/** Whether a running process has the state file. What the lock says is read, not taken. */
export async function lock(data: string): Promise<Finding> {
  const state = join(resolve(data), 'default.json')
  if (!existsSync(`${state}.lock`)) return fine('lock', `nobody uses ${state}`)
  const read = await readJsonFile(`${state}.lock`)
  const { pid, started } = 'document' in read ? read.document : {}
  const holder = { pid: Number(pid), started: typeof started === 'string' ? started : null }
  if (!Number.isSafeInteger(pid) || !isRunning(holder))
    return fine('lock', 'left behind by a process that is gone; the next start takes it over')
  return problem('lock', `Process ${pid} uses ${state}.`, 'Stop it, or give another directory with --data.')
}

/** Whether the port is free, and who answers there otherwise. */
export async function port(host: string, wanted: number): Promise<Finding> {
  const address = `${host.includes(':') ? `[${host}]` : host}:${wanted}`
  const code = await listenFailure(host, wanted)
  if (code === undefined) return fine('port', wanted === 0 ? 'any free one' : `${address} is free`)
  if (code !== 'EADDRINUSE') {
    return problem('port', `${address} cannot be listened on (${code}).`, 'Choose another --port or --host.')
  }
  const version = await emulatorAt(`http://${address}`)
  if (version === undefined) {
    return problem('port', `Another program listens on ${address}.`, 'Stop it, or choose another --port.')
  }
  return problem(
    'port',
    `An emulator ${version} answers on ${address}.`,
    'Use it, stop it, or choose another --port.',
  )
}

export async function shippedFixtures(): Promise<Finding> {
  for (const world of SHIPPED_WORLDS) {
    try {
      await readFixtures(world)
    } catch (error) {
      return problem('fixtures', `${(error as Error).message}.`, 'Install the package again.')
    }
  }
  return fine('fixtures', SHIPPED_WORLDS.join(', '))
}

export function hostClock(now: number = hostTime()): Finding {
  if (now >= EARLIEST) return fine('clock', formatInstant(now))
  return problem(
    'clock',
    `The clock of this machine says ${formatInstant(now)}.`,
    'Set it, or start with --clock.',
  )
}

function fine(check: string, detail: string): Finding {
  return { check, ok: true, detail }
}

function problem(check: string, detail: string, wayOut: string): Finding {
  return { check, ok: false, detail, way_out: wayOut }
}

/** The path itself, or the closest directory above it that exists. */
function nearest(path: string): string {
  return existsSync(path) ? path : nearest(dirname(path))
}

function listenFailure(host: string, wanted: number): Promise<string | undefined> {
  return new Promise((done) => {
    const server = createServer()
    server.once('error', (error) => done(codeOf(error)))
    server.listen({ host, port: wanted }, () => server.close(() => done(undefined)))
  })
}

async function emulatorAt(url: string): Promise<string | undefined> {
  const answer = await send({ url }, 'GET', '/health', { patience: 2_000 }).catch(() => undefined)
  if (answer?.locked === true) return 'with a control token'
  return typeof answer?.body?.version === 'string' ? answer.body.version : undefined
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}
