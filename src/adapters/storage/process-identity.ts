import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { attempt, hasCode } from './files.ts'

/** A process. Its pid is valid on its host only: a boot of a machine, and a pid namespace such as a container. */
export type ProcessIdentity = { readonly pid: number; readonly host: string }

/** This process. */
export function thisProcess(): ProcessIdentity {
  const boot = attempt(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim())
  const namespace = attempt(() => readlinkSync('/proc/self/ns/pid'))
  return { pid: process.pid, host: `${hostname()} ${boot} ${namespace}` }
}

/** Whether a process of this host still runs. A zombie has ended. */
export function isRunning({ pid }: ProcessIdentity): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    // The process exists, but belongs to another user.
    if (!hasCode(error, 'EPERM')) return false
  }
  return !/^State:\s+Z/m.test(attempt(() => readFileSync(`/proc/${pid}/status`, 'utf8')) ?? '')
}
