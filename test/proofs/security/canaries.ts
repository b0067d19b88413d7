import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { run as runCommand } from '../../../src/cli/command-line.ts'
import type { RunningEmulator } from '../../../src/emulator/emulator.ts'
import { workspaceService } from '../../../src/emulator/service.ts'
import { controlRoutes } from '../../../src/server/control/routes/index.ts'
import { atLeast, type Figure, none, type Proof, tried } from '../proof.ts'
import { against, withFolder } from './emulator.ts'
import { CANARY, controlled, guarded, leaks, REQUESTS, SIGNING, send, WRITES } from './secrets.ts'

/** Reports the secrets in a text. */
type Look = (where: string, text: string, allowed?: ReadonlySet<string>) => void

/** Reads everything of two sandboxes over the control interface. @returns the number of responses */
async function readAll({ port, sandboxes }: RunningEmulator, look: Look): Promise<number> {
  const ids = sandboxes.list().flatMap(({ sandbox }) => sandbox.log.entries().map(({ id }) => id))
  const collections = [...workspaceService.collections.keys()]
  const names = { request_id: ids, collection: collections, name: ['base', 'default'] }
  let responses = 0
  for (const { method, path } of controlRoutes(workspaceService)) {
    if (method !== 'GET' || path === '/events') continue
    for (const prefix of ['', '/@w1']) {
      for (const target of expand(String(path), names)) {
        const text = await send(port, 'GET', `${prefix}/__emulator${target}`, controlled)
        look(`${prefix}${target}`, text)
        responses += 1
      }
    }
  }
  return responses
}

async function command(argv: readonly string[]): Promise<string> {
  const said: string[] = []
  const terminal = {
    out: (text: string) => void said.push(text),
    err: (text: string) => void said.push(text),
  }
  await runCommand(argv, {}, { ...terminal, colours: false })
  return said.join('\n')
}

async function commands({ port, sandbox }: RunningEmulator, look: Look): Promise<number> {
  const at = ['--url', `http://127.0.0.1:${port}`, '--control-token', CANARY.control]
  const ids = sandbox.log.entries().map(({ id }) => id)
  const all = [
    ['requests'],
    ...ids.map((id) => ['explain', id]),
    ['status'],
    ['clock'],
    ['faults'],
    ['scenario'],
    ['sandbox', 'list'],
    ['snapshot', 'list'],
  ]
  for (const argv of all) look(`command ${argv.join(' ')}`, await command([...argv, ...at]))
  for (const argv of all.slice(0, 2))
    look(`command ${argv} --json`, await command([...argv, ...at, '--json']))
  const wrong = [...at.slice(0, 2), '--control-token', `${CANARY.control}-wrong`]
  look('command with a wrong token', await command(['status', ...wrong]))
  return all.length + 3
}

/** The output and log of the built command when it gets secrets, in both log formats. */
async function started(look: Look): Promise<void> {
  for (const format of ['pretty', 'json']) {
    const argv = ['start', '--port', '0', '--ephemeral', '--log-level', 'debug', '--log-format', format]
    const child = spawn(process.execPath, ['dist/cli.js', ...argv, '--control-token', CANARY.control])
    let said = ''
    const heard = new Promise<number>((resolve, reject) => {
      const hear = (chunk: Buffer): void => {
        said += chunk
        const [, port] = /http:\/\/127\.0\.0\.1:(\d+)\/v1/.exec(said) ?? []
        if (port !== undefined) resolve(Number(port))
      }
      child.stdout.on('data', hear)
      child.stderr.on('data', hear)
      child.once('exit', () => reject(new Error(`the emulator has ended: ${said}`)))
    })
    const ended = once(child, 'close')
    try {
      const port = await heard
      for (const [method, path, sending] of REQUESTS)
        look(`${method} ${path}`, await send(port, method, path, sending))
    } finally {
      child.kill('SIGTERM')
      await ended
    }
    look(`the ${format} output of start`, said)
  }
}

/** The contents of the disk, and files that other users may read. */
function onDisk(data: string, look: Look): string[] {
  const open: string[] = []
  for (const entry of readdirSync(data, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if ((statSync(path).mode & 0o077) !== 0) open.push(path)
    if (entry.isFile()) look(`file ${entry.name}`, readFileSync(path, 'utf8'), SIGNING)
  }
  return open
}

async function run(): Promise<readonly Figure[]> {
  const found: string[] = []
  const look: Look = (where, text, allowed) => {
    found.push(...leaks(text, allowed).map((secret) => `${secret} in ${where}`))
  }
  const logged: string[] = []
  const note = (...said: unknown[]) => void logged.push(inspect(said, { depth: 20 }))
  const figures = await withFolder(async (folder) => {
    const data = join(folder, 'data')
    const options = { ...guarded, data, logger: { info: note, warn: note, error: note } }
    const { figures, feed } = await against(options, ({ emulator }) => inside(emulator, look))
    // The stream ends with the emulator.
    const told = await feed
    look('the feed', told)
    look('the logger', logged.join('\n'))
    const open = onDisk(data, look)
    await started(look)
    return [
      ...figures,
      atLeast('requests reported by the feed', told.split('event: request').length - 1, 20),
      none(`files that others can read${open.length === 0 ? '' : `: ${open[0]}`}`, open.length),
    ]
  })
  return [...figures, none(`secrets shown${found.length === 0 ? '' : `: ${found[0]}`}`, found.length)]
}

/** The output of a running emulator. */
async function inside(emulator: RunningEmulator, look: Look) {
  const { port, sandbox } = emulator
  const feed = send(port, 'GET', '/__emulator/events', { ...controlled, follows: true })
  for (const [n, [method, path, sending]] of REQUESTS.entries())
    look(`answer ${n} to ${method} ${path}`, await send(port, method, path, sending))
  for (const [method, path, json] of WRITES)
    look(`${method} ${path}`, await send(port, method, `/__emulator${path}`, { ...controlled, json }))
  // Repeated with rules that match the secrets of requests.
  for (const [n, [method, path, sending]] of REQUESTS.entries())
    look(`response ${n} under a rule`, await send(port, method, path, sending))
  const logSize = sandbox.log.size
  await send(port, 'POST', '/__emulator/snapshots', { ...controlled, json: { name: 'base' } })
  const responses = await readAll(emulator, look)
  const printed = await commands(emulator, look)
  const figures = [
    tried('requests with secrets', 2 * REQUESTS.length + WRITES.length),
    tried('control responses read', responses),
    tried('commands', printed),
    atLeast('requests in the log', logSize, 20),
  ]
  return { figures, feed }
}

function expand(path: string, values: Readonly<Record<string, readonly string[]>>): string[] {
  const [, name] = /\{(\w+)\}/.exec(path) ?? []
  if (name === undefined) return [path]
  return (values[name] ?? ['x']).flatMap((value) => expand(path.replace(`{${name}}`, value), values))
}

export const x6: Proof = {
  id: 'X6',
  promise:
    'No secret is in a response, in the control interface, in logs, in the output of commands, or on the disk; secrets that sign webhooks are only in the state files, and in exports with ?secrets=true.',
  run,
}
