import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isObject } from '../../../src/core/json.ts'
import { busyCollections } from './sandbox.ts'

const CLI = 'dist/cli.js'

/** The built emulator in a separate process, in memory, with a frozen clock. */
export interface OwnProcess {
  readonly port: number
  readonly isAlive: () => boolean
  readonly said: () => string
  stop(): Promise<void>
}

/** Starts the built command with the busy sandbox. Rejects with its output if it ends before it is ready. */
export async function ownProcess(): Promise<OwnProcess> {
  if (!existsSync(CLI)) throw new Error(`${CLI} is missing. Run "npm run build" first.`)
  const folder = mkdtempSync(join(tmpdir(), 'proof-'))
  const fixtures = join(folder, 'fixtures.json')
  writeFileSync(fixtures, JSON.stringify({ collections: busyCollections() }))
  const flags = ['--port', '0', '--json', '--ephemeral', '--limits', 'off', '--rate', '0', '--quiet']
  const child = spawn(process.execPath, [CLI, 'start', ...flags, '--fixtures', fixtures], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let errors = ''
  child.stderr.on('data', (piece) => {
    errors += piece
  })
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()))
  try {
    return {
      port: await portOf(child, () => errors),
      isAlive: () => isAlive(child),
      said: () => errors,
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }

  async function stop(): Promise<void> {
    if (isAlive(child)) child.kill('SIGKILL')
    await gone
    rmSync(folder, { recursive: true, force: true })
  }
}

function isAlive(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null
}

function portOf(child: ChildProcess, said: () => string): Promise<number> {
  return new Promise((resolve, reject) => {
    let text = ''
    child.stdout?.on('data', (piece) => {
      text += piece
      if (!text.includes('\n')) return
      const ready: unknown = JSON.parse(text.slice(0, text.indexOf('\n')))
      if (isObject(ready)) resolve(Number(ready.port))
    })
    child.once('close', (code) => reject(new Error(`the emulator ended with ${code}: ${said()}`)))
  })
}
