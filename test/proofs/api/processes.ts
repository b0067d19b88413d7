import { spawn } from 'node:child_process'

/** The output of a process and how it ended. */
export interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** The zone with the largest offset from UTC, and one whose offset includes half an hour. */
export const ZONES = ['Pacific/Kiritimati', 'America/St_Johns'] as const

/** Runs Node with these arguments in a time zone, and waits for its end. */
export function runNode(args: readonly string[], zone: string): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, {
      env: { ...process.env, TZ: zone, NODE_OPTIONS: '' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let out = ''
    let err = ''
    child.stdout.on('data', (piece) => {
      out += piece
    })
    child.stderr.on('data', (piece) => {
      err += piece
    })
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, out, err }))
  })
}
