import { scheduler } from 'node:timers/promises'
import { elapsedTime } from '../../core/time/clock.ts'
import { formatDuration } from '../../core/time/instant.ts'
import { callCommand } from './call-command.ts'
import { nextEvent, speedOf } from './clock-commands.ts'
import {
  CLIENT_OPTIONS,
  CommandFailed,
  command,
  OK,
  SANDBOX_OPTIONS,
  type SandboxInvocation,
} from './command.ts'
import { type ControlAddress, controlOf } from './control-client.ts'
import { show } from './print.ts'

export const waitCommands = [
  command({
    name: 'wait',
    description: 'Wait until an emulator is ready: exit code 0, or 1 when the time is up',
    options: [...CLIENT_OPTIONS, 'timeout'],
    run: async ({ options, terminal }) => {
      await untilReady(options, options.timeout)
      terminal.out(options.json ? JSON.stringify({ ready: true, url: options.url }) : `Ready: ${options.url}`)
      return OK
    },
  }),
]

export const statusCommands = [
  command({
    name: 'status',
    description: 'Show whether an emulator runs, and its clock',
    options: SANDBOX_OPTIONS,
    run: async ({ options, terminal }) => {
      const ask = controlOf(options)
      const health = await ask('GET /health')
      const clock = await ask('GET /clock')
      const { now, next, frozen } = clock
      const facts = { url: options.url, sandbox: options.sandbox ?? null, ...health, clock }
      return show({ options, terminal }, facts, [
        `${placeOf(options)}: version ${health.version}, contract ${health.contract_version}`,
        `  clock  ${now}, ${speedOf(clock)}`,
        `  next   ${nextEvent(next)}`,
        ...(frozen === null ? [] : [`  ${frozen}`]),
      ])
    },
  }),
]

export const resetCommands = [
  callCommand({
    name: 'reset',
    description: 'Reset the sandbox to its starting state',
    route: 'POST /reset',
    lines: (_body, _args, { options }) => [
      `The sandbox of ${placeOf(options)} has its starting state again.`,
    ],
  }),
]

/** Milliseconds between two requests of `wait`. */
const PAUSE = 50

/** Milliseconds that one of its requests may take; an emulator that is nearly ready responds at once. */
const PATIENCE = 2_000

async function untilReady(address: ControlAddress, timeout: number): Promise<void> {
  const deadline = elapsedTime() + timeout
  let last: string | undefined
  for (;;) {
    // With a timeout of 0 there is one request.
    const left = timeout === 0 ? PATIENCE : Math.ceil(deadline - elapsedTime())
    const patience = Math.max(1, Math.min(PATIENCE, left))
    const obstacle = await obstacleAt(address, patience, last)
    if (obstacle === undefined) return
    last = obstacle
    if (elapsedTime() + PAUSE >= deadline) {
      throw new CommandFailed(`Not ready after ${formatDuration(timeout)}: ${obstacle}`)
    }
    // Not `later`: it is part of the emulator, which this process must not load.
    await scheduler.wait(PAUSE)
  }
}

/**
 * Why the emulator is not ready; undefined when it is. A request that timed out adds nothing to a reason that is already known.
 */
async function obstacleAt(
  address: ControlAddress,
  patience: number,
  known: string | undefined,
): Promise<string | undefined> {
  try {
    await controlOf(address, patience)('GET /ready')
    return undefined
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error
    return known !== undefined && error.message.includes('TimeoutError') ? known : error.message
  }
}

function placeOf({ url, sandbox }: SandboxInvocation['options']): string {
  return sandbox === undefined ? url : `${url}, sandbox ${sandbox}`
}
