import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { onTestFinished } from 'vitest'

export interface AtTerminal {
  /** The exit code, when it has ended. */
  readonly ended: Promise<number>
  type(keys: string): void
  /** Resolves with the match when the screen, from its start, matches. */
  until(text: RegExp): Promise<RegExpExecArray>
}

/** Runs the built command at a pseudo-terminal; it is killed if it still runs when the test ends. */
export function atTerminal(argv: readonly string[], cwd = '.'): AtTerminal {
  if (spawnSync('script', ['--version']).error !== undefined)
    throw new Error('The program script is missing. Install it: apt-get install bsdutils')
  // A shell between them would get Ctrl-C, too, and some shells end by it.
  const quoted = [process.execPath, resolve('dist/cli.js'), ...argv].map((word) => `'${word}'`)
  const line = `exec ${quoted.join(' ')}`
  const child = spawn('script', ['-qefc', line, '/dev/null'], { cwd, stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  // Keys that are typed after its end.
  child.stdin.on('error', () => {})
  let screen = ''
  child.stdout.on('data', (chunk: Buffer) => {
    screen += chunk
  })
  const ended = once(child, 'close').then(([code]) => code as number)
  return {
    ended,
    type: (keys) => void child.stdin.write(keys),
    until: async (text) => {
      for (;;) {
        const found = text.exec(screen)
        if (found !== null) return found
        const isOver = await Promise.race([
          ended.then(() => true),
          once(child.stdout, 'data').then(() => false),
        ])
        if (isOver) throw new Error(`It ended without ${text}:\n${screen}`)
      }
    },
  }
}
