import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  statfsSync,
  statSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { isObject } from '../../core/json.ts'
import { hostTime } from '../../core/time/clock.ts'
import { formatInstant } from '../../core/time/instant.ts'
import { type Ask, askOver } from '../control/client/ask.ts'
import { EmulatorError } from '../control/client/emulator-error.ts'
import { overHttp } from '../control/client/over-http.ts'
import { readFixtures, SHIPPED_FIXTURES } from '../fixtures.ts'
import {
  describeHolder,
  holderIn,
  isRunning,
  LOCK,
  LOOK_AGAIN,
  Observation,
  thisHolder,
  ticks,
} from '../lock-file.ts'
import { later } from '../realtime.ts'
import { FAILED, type Invocation, OK } from './command.ts'
import { nodeFetch } from './node-fetch.ts'
import { codeOf } from './print.ts'

/** `doctor`: checks everything that could prevent a start with the same options, and prints one line for each check. */
export async function doctor({
  options,
  terminal,
}: Invocation<'port' | 'host' | 'data' | 'json'>): Promise<number> {
  const findings = [
    nodeVersion(process.versions.node),
    dataDirectory(options.data),
    freeSpace(options.data),
    await lock(options.data),
    stateFiles(options.data),
    await port(options.host, options.port),
    await shippedFixtures(),
    hostClock(),
  ]
  const ok = findings.every((finding) => finding.ok)
  terminal.out(options.json ? JSON.stringify({ ok, checks: findings }) : findings.map(lineOf).join('\n'))
  return ok ? OK : FAILED
}

function lineOf({ check, ok, detail, way_out }: Finding): string {
  const what = way_out === undefined ? detail : `${detail} ${way_out}`
  return `${(ok ? 'ok' : 'problem').padEnd(9)}${check.padEnd(12)}${what}`
}

const OLDEST_NODE = [20, 19] as const
const MIN_SPACE = 64 * 1024 * 1024

/** An instant before the first version of the emulator: a host clock that shows an earlier one is wrong. */
const EARLIEST = Date.parse('2025-01-01T00:00:00Z')

/** The result of one check. A problem has a fix in `way_out`. */
interface Finding {
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

/** @param access throws if the path may not be used in the given mode */
export function dataDirectory(
  data: string,
  access: (path: string, mode: number) => void = accessSync,
): Finding {
  const directory = resolve(data)
  const wayOut = 'give another directory with --data, or start with --ephemeral.'
  const standing = nearest(directory)
  if (!statSync(standing).isDirectory())
    return problem('data', `${standing} is not a directory.`, `Move it away, ${wayOut}`)
  try {
    access(standing, constants.W_OK | constants.X_OK)
  } catch (error) {
    return problem(
      'data',
      `${standing} cannot be written to (${codeOf(error)}).`,
      `Fix its permissions, ${wayOut}`,
    )
  }
  return fine('data', standing === directory ? `${directory} is writable` : `${directory} can be created`)
}

function freeSpace(data: string): Finding {
  const { bavail, bsize } = statfsSync(nearest(resolve(data)))
  const free = bavail * bsize
  const shown = `${Math.floor(free / 1024 / 1024)} MiB free`
  if (free >= MIN_SPACE) return fine('space', shown)
  return problem(
    'space',
    `${shown}.`,
    'Free some space, give a directory on another disk with --data, or start with --ephemeral.',
  )
}

/**
 * Whether a running process uses the data folder. The lock is read, not taken; a process that is not visible from here is
 * recognised by its heartbeat.
 */
export async function lock(data: string): Promise<Finding> {
  const folder = resolve(data)
  const old = holderIn(textOf(join(folder, 'default.json.lock')) ?? '')
  if (old !== undefined && isRunning(old))
    return inUse(folder, `process ${old.pid}, an emulator of version 0.1`)
  const path = join(folder, LOCK)
  const { place } = thisHolder('')
  const observation = new Observation(place)
  for (;;) {
    const before = ticks()
    const text = textOf(path)
    if (text === undefined) return fine('lock', `${folder} is not in use`)
    if (text === null) return problem('lock', `${path} is not a readable file.`, 'Remove or rename it.')
    const verdict = observation.look(text, before, ticks())
    if (verdict === 'alive') return inUse(folder, describeHolder(holderIn(text), place))
    if (verdict === 'dead') return fine('lock', 'its process has ended; the next start takes it over')
    await new Promise<void>((done) => later(LOOK_AGAIN, done))
  }
}

function inUse(folder: string, who: string): Finding {
  return problem('lock', `${folder} is in use by ${who}.`, 'Stop it, or give another directory with --data.')
}

/** The text of a file; undefined when there is none, null when it cannot be read as a file. */
function textOf(path: string): string | null | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return undefined
  try {
    return stat.isFile() ? readFileSync(path, 'utf8') : null
  } catch {
    return null
  }
}

/** Whether the port is free; otherwise whether an emulator uses it. */
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
    `An emulator ${version} already listens on ${address}.`,
    'Use it, stop it, or choose another --port.',
  )
}

async function shippedFixtures(): Promise<Finding> {
  for (const sandbox of SHIPPED_FIXTURES) {
    try {
      await readFixtures(sandbox)
    } catch (error) {
      return problem('fixtures', `${(error as Error).message}.`, 'Install the package again.')
    }
  }
  return fine('fixtures', SHIPPED_FIXTURES.join(', '))
}

export function hostClock(now: number = hostTime()): Finding {
  if (now >= EARLIEST) return fine('clock', formatInstant(now))
  return problem(
    'clock',
    `The clock of this machine is wrong: ${formatInstant(now)}.`,
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
  const ask: Ask = askOver(overHttp({ url }, nodeFetch))
  try {
    const { version } = await ask('GET /health', { signal: AbortSignal.timeout(2_000) })
    return typeof version === 'string' ? version : undefined
  } catch (error) {
    return error instanceof EmulatorError && error.code === 'unauthorized'
      ? 'with a control token'
      : undefined
  }
}

const SHOWN = 3

/** Reports records and state files that were set aside because they could not be used, and state paths that are not files. */
export function stateFiles(data: string): Finding {
  const directories = [resolve(data), join(resolve(data), 'sandboxes')]
  const found = directories.flatMap(findingsIn)
  if (found.length === 0) return { check: 'files', ok: true, detail: 'nothing was set aside' }
  const more = found.length > SHOWN ? ` And ${found.length - SHOWN} more.` : ''
  return {
    check: 'files',
    ok: false,
    detail: found.slice(0, SHOWN).join(' ') + more,
    way_out:
      'Fix what was set aside, write it with PUT /__emulator/state/{collection}/{id} or into the state file, and delete the set-aside file.',
  }
}

function findingsIn(directory: string): string[] {
  return namesIn(directory).flatMap((name) => {
    const path = join(directory, name)
    if (/\.json$/.test(name) && statSync(path, { throwIfNoEntry: false })?.isFile() === false)
      return [`${path} is not a file: move it away.`]
    if (/\.json\.invalid-\d+$/.test(name)) return [setAside(path)]
    if (/\.json\.corrupt-\d+$/.test(name)) return [`${path} could not be read as a state file.`]
    return []
  })
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory).sort()
  } catch {
    return []
  }
}

function setAside(path: string): string {
  const records = recordsIn(path)
  const [first] = records
  const example = isObject(first) ? `: ${String(first.pointer)}: ${String(first.reason)}` : ''
  return `${path} contains ${records.length} invalid records${example}.`
}

function recordsIn(path: string): readonly unknown[] {
  try {
    const records: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return Array.isArray(records) ? records : []
  } catch {
    return []
  }
}
