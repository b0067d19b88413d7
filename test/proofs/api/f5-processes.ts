import { spawn } from 'node:child_process'

/** What a process has said and how it ended. */
export interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** The zone that is ahead of UTC by most, and one that is behind it by half an hour more than whole hours. */
export const ZONES = ['Pacific/Kiritimati', 'America/St_Johns'] as const

/** Runs Node with some arguments in a time zone, and waits for its end. */
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
