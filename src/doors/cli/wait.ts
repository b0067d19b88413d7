import { scheduler } from 'node:timers/promises'
import { hostTime } from '../../kernel/time/clock.ts'
import { formatDuration } from '../../kernel/time/duration.ts'
import { type ControlAddress, NoAnswer, refusal, send, silence } from './control-client.ts'
import type { Invocation, WAIT_OPTIONS } from './invocation.ts'
import { CommandFailed, OK } from './usage.ts'

/** Milliseconds between two questions. */
const PAUSE = 50

/** Milliseconds that one question may take; an emulator that is about to be ready answers at once. */
const PATIENCE = 2_000

/** `wait`: asks until the emulator is ready. */
export async function wait({
  options,
  terminal,
}: Invocation<(typeof WAIT_OPTIONS)[number]>): Promise<number> {
  const deadline = hostTime() + options.timeout
  for (;;) {
    // Without any time, whether it is ready now is all that is asked.
    const left = options.timeout === 0 ? PATIENCE : deadline - hostTime()
    const patience = Math.max(1, Math.min(PATIENCE, left))
    const obstacle = await obstacleAt(options, patience)
    if (obstacle === undefined) break
    if (hostTime() + PAUSE >= deadline) {
      throw new CommandFailed(`Not ready after ${formatDuration(options.timeout)}: ${obstacle}`)
    }
    // A client command is a process of its own that must not load the emulator, where the timers are.
    await scheduler.wait(PAUSE)
  }
  terminal.out(options.json ? JSON.stringify({ ready: true, url: options.url }) : `Ready: ${options.url}`)
  return OK
}

async function obstacleAt(address: ControlAddress, patience: number): Promise<string | undefined> {
  try {
    const answer = await send(address, 'GET', '/ready', { patience })
    return answer.status === 200 ? undefined : refusal(address, 'GET /__emulator/ready', answer)
  } catch (error) {
    if (error instanceof NoAnswer) return silence(address, error)
    throw error
  }
}
