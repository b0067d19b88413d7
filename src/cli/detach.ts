import { spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CommandFailed, type Invocation } from '../terminal/command.ts'
import type { START_OPTIONS } from '../terminal/options.ts'
import { show } from '../terminal/print.ts'

/**
 * `start --detach`: starts the same command in a separate process that keeps running, and resolves when it is ready. The
 * process logs to a file. Throws {@link CommandFailed} with this log when the process ends before it is ready.
 */
export async function startDetached(invocation: Invocation<typeof START_OPTIONS>): Promise<number> {
  const log = join(tmpdir(), `workspace-emulator-${process.pid}.log`)
  // Only this user may read the log: it can contain a generated control token.
  const handle = openSync(log, 'w', 0o600)
  const [, script = '', ...argv] = process.argv
  const words = argv.filter((word) => word !== '--detach')
  const child = spawn(process.execPath, [script, ...words, '--json'], {
    detached: true,
    stdio: ['ignore', 'pipe', handle],
    // The child does not end together with npm, and does not detach again.
    env: { ...invocation.env, npm_lifecycle_event: '', WORKSPACE_EMULATOR_DETACH: '' },
  })
  closeSync(handle)
  const line = await new Promise<string>((resolve, reject) => {
    let out = ''
    child.stdout?.on('data', (chunk: Buffer) => {
      out += chunk
      if (out.includes('\n')) resolve(out.slice(0, out.indexOf('\n')))
    })
    child.on('error', reject)
    child.on('close', () => {
      const reason = reasonIn(readFileSync(log, 'utf8').trimEnd())
      rmSync(log)
      reject(new CommandFailed(reason))
    })
  })
  child.unref()
  child.stdout?.destroy()
  const ready = JSON.parse(line) as { readonly base_url: string; readonly control_url: string }
  const origin = ready.control_url.replace('/__emulator', '')
  return show(invocation, { ...ready, pid: child.pid, log }, [
    `The emulator runs as process ${child.pid}: ${ready.base_url}`,
    `  Dashboard  ${ready.control_url}/ui/`,
    `  Log        ${log}`,
    `  Stop       workspace-emulator stop --url ${origin}`,
  ])
}

// The last line of a process that failed is its error as JSON; that of one that was ended can be anything.
function reasonIn(output: string): string {
  const last = output.lastIndexOf('\n') + 1
  try {
    const { error } = JSON.parse(output.slice(last)) as { readonly error: { readonly message: string } }
    return output.slice(0, last) + error.message
  } catch {
    return output
  }
}
