import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { scheduler } from 'node:timers/promises'
import { isRunning, thisProcess } from '../adapters/storage/process-identity.ts'
import { controlPath } from '../control-client/transport.ts'
import { elapsedTime } from '../core/time/clock.ts'
import { formatDuration } from '../core/time/instant.ts'
import { call, sandboxCommand } from '../terminal/call-command.ts'
import { nextEvent, speedOf } from '../terminal/clock-lines.ts'
import { CommandFailed, command } from '../terminal/command.ts'
import { type ControlAddress, controlOf, emulatorOrigin, namedIn } from '../terminal/control-client.ts'
import { CLIENT_OPTIONS, SHARED } from '../terminal/options.ts'
import { show } from '../terminal/print.ts'
import { envCommand } from './env.ts'

/** The commands about a running emulator as a whole. */
export const controlCommands = [
  command({
    name: 'wait',
    description: 'Wait until an emulator is ready: exit code 0, or 1 when the time is up',
    options: { ...CLIENT_OPTIONS, timeout: SHARED.timeout },
    run: async (invocation) => {
      const { url, timeout } = invocation.options
      await untilReady(invocation.options, timeout)
      return show(invocation, { ready: true, url }, [`Ready: ${url}`])
    },
  }),
  sandboxCommand('status', {
    description: 'Show whether an emulator runs, and its clock',
    run: async (ask, invocation) => {
      const { options } = invocation
      const health = await ask('GET /health')
      const clock = await ask('GET /clock')
      const { now, next, frozen } = clock
      const facts = { url: options.url, sandbox: options.sandbox ?? null, ...health, clock }
      return show(invocation, facts, [
        `${placeOf(options)}: version ${health.version}, contract ${health.contract_version}`,
        `  clock  ${now}, ${speedOf(clock)}`,
        `  next   ${nextEvent(next)}`,
        ...(frozen === null ? [] : [`  ${frozen}`]),
      ])
    },
  }),
  call('reset', 'POST /reset', {
    description: 'Reset the sandbox to its starting state',
    lines: (_, __, options) => [`The sandbox of ${placeOf(options)} has its starting state again.`],
  }),
  sandboxCommand('open', {
    description: 'Open the dashboard in a browser, or print its address if there is no browser',
    run: async (ask, invocation) => {
      const { options } = invocation
      await ask('GET /health')
      const url = `${emulatorOrigin(options)}${controlPath(options.sandbox ?? namedIn(options))}/ui/`
      const opened = await openInBrowser(url)
      return show(invocation, { url, opened }, [opened ? `Opened: ${url}` : `Open it in a browser: ${url}`])
    },
  }),
  envCommand,
  command({
    name: 'stop',
    description: 'End a running emulator: requests in flight finish, and the state is saved',
    options: { ...CLIENT_OPTIONS, timeout: SHARED.timeout },
    run: async (invocation) => {
      const { url, timeout } = invocation.options
      const { process: stopping } = await controlOf(invocation.options)('POST /shutdown')
      const isLocal = stopping.host === thisProcess().host
      const deadline = elapsedTime() + timeout
      while (isLocal ? isRunning(stopping) : await responds(invocation.options)) {
        if (elapsedTime() > deadline) {
          throw new CommandFailed(
            `${url} still runs after ${formatDuration(timeout)}, as process ${stopping.pid}. Wait longer with --timeout, or end that process.`,
          )
        }
        await scheduler.wait(PAUSE)
      }
      return show(invocation, { stopped: url, pid: stopping.pid }, [`Stopped: ${url}`])
    },
  }),
]

/** Milliseconds between two checks of an emulator that starts or ends. */
const PAUSE = 50

/** Milliseconds that a check may take; an emulator that is nearly ready responds at once. */
const PATIENCE = 2_000

/** Milliseconds to wait for an error of the program that opens a page. A browser may keep running after that. */
const OPENING = 2_000

async function untilReady(address: ControlAddress, timeout: number): Promise<void> {
  const deadline = elapsedTime() + timeout
  let obstacle = ''
  for (;;) {
    // With a timeout of 0 there is one request.
    const left = timeout === 0 ? PATIENCE : Math.ceil(deadline - elapsedTime())
    const patience = Math.max(1, Math.min(PATIENCE, left))
    try {
      await controlOf(address, patience)('GET /ready')
      return
    } catch (error) {
      if (!(error instanceof CommandFailed)) throw error
      // A request that timed out adds nothing to a reason that is already known.
      if (obstacle === '' || !error.message.includes('TimeoutError')) obstacle = error.message
    }
    if (elapsedTime() + PAUSE >= deadline)
      throw new CommandFailed(`Not ready after ${formatDuration(timeout)}: ${obstacle}`)
    // Not `later`: it is part of the emulator, which this process must not load.
    await scheduler.wait(PAUSE)
  }
}

async function responds(address: ControlAddress): Promise<boolean> {
  const health = controlOf(address, PATIENCE)('GET /health')
  return health.then(() => true).catch(() => false)
}

function placeOf({ url, sandbox }: ControlAddress): string {
  return sandbox === undefined ? url : `${url}, sandbox ${sandbox}`
}

/** The programs that open a page. The title is empty, since `start` of Windows uses the first quoted text as the title. */
const OPENERS: Readonly<Record<string, readonly string[]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
}

async function openInBrowser(url: string): Promise<boolean> {
  const [program = '', ...args] = OPENERS[process.platform] ?? ['xdg-open']
  const opener = spawn(program, [...args, url], { stdio: 'ignore', detached: true })
  opener.unref()
  const ended = once(opener, 'exit')
    .then(([code]) => code === 0)
    .catch(() => false)
  return Promise.race([ended, scheduler.wait(OPENING).then(() => true)])
}
