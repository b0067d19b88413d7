import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { onTestFinished } from 'vitest'
import type { ReadyLine } from './in-process.ts'

const CLI = 'dist/cli.js'

export interface Running {
  readonly child: ChildProcess
  /** The first line on stdout; rejects with the output if the process ends without one. */
  readonly line: Promise<string>
  /** Resolves with the match when standard error, from its start, matches. */
  errorOutput(pattern: RegExp): Promise<RegExpExecArray>
  /** The whole output and the exit code, when the process has ended. */
  readonly ended: Promise<Ended>
  /** Sends SIGTERM, and resolves as {@link ended}. */
  stop(): Promise<Ended>
}

interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/**
 * Starts the built command; it is killed if it still runs when the test ends.
 * @param program what runs it: Node and the file of the command, and what comes before them
 */
export function spawnCommand(
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
  program: readonly string[] = [process.execPath, CLI],
): Running {
  if (!existsSync(CLI)) throw new Error(`${CLI} is missing. Run "npm run build" first.`)
  const [file = '', ...words] = [...program, ...argv]
  const child = spawn(file, words, { env: { PATH: '/usr/bin:/bin', ...env } })
  onTestFinished(() => void child.kill('SIGKILL'))
  let out = ''
  let err = ''
  const looks = new Set<() => void>()
  child.stderr?.on('data', (chunk) => {
    err += chunk
    for (const look of looks) look()
  })
  const errorOutput = (pattern: RegExp) =>
    new Promise<RegExpExecArray>((resolve) => {
      const look = () => {
        const found = pattern.exec(err)
        if (found === null) return
        looks.delete(look)
        resolve(found)
      }
      looks.add(look)
      look()
    })
  const line = new Promise<string>((resolve, reject) => {
    child.stdout?.on('data', (chunk) => {
      out += chunk
      const [first, ...rest] = out.split('\n')
      if (rest.length > 0) resolve(first ?? '')
    })
    child.on('close', () => reject(new Error(`ended without a line on stdout: ${err}`)))
  })
  // Tests that do not await the line check the exit code instead.
  line.catch(() => {})
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, out, err }))
  const stop = () => {
    child.kill('SIGTERM')
    return ended
  }
  return { child, line, errorOutput, ended, stop }
}

/** Starts an emulator on a free port, in memory unless the arguments choose otherwise. */
export async function spawnEmulator(
  argv: readonly string[] = ['--ephemeral'],
  env: Readonly<Record<string, string>> = {},
  program?: readonly string[],
): Promise<Running & { readonly ready: ReadyLine }> {
  const running = spawnCommand(['start', '--json', '--port', '0', ...argv], env, program)
  return { ...running, ready: JSON.parse(await running.line) as ReadyLine }
}
