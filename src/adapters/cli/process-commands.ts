import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { scheduler } from 'node:timers/promises'
import { elapsedTime } from '../../core/time/clock.ts'
import { formatDuration } from '../../core/time/instant.ts'
import { controlPath } from '../control/client/transport.ts'
import { isHere, isRunning, thisHolder } from '../lock-file.ts'
import { CLIENT_OPTIONS, CommandFailed, command, SANDBOX_OPTIONS } from './command.ts'
import { controlOf, emulatorOrigin, namedIn } from './control-client.ts'
import { show } from './print.ts'

/** Milliseconds between two checks whether an emulator has ended. */
const LOOK_AGAIN_AFTER = 50

/** Milliseconds to wait for an error of the program that opens a page. A browser may keep running after that. */
const OPENING = 2_000

export const openCommands = [
  command({
    name: 'open',
    description: 'Open the dashboard in a browser, or print its address if there is no browser',
    options: SANDBOX_OPTIONS,
    run: async (invocation) => {
      const { options } = invocation
      await controlOf(options)('GET /health')
      const url = `${emulatorOrigin(options)}${controlPath(options.sandbox ?? namedIn(options))}/ui/`
      const opened = await openInBrowser(url)
      return show(invocation, { url, opened }, [opened ? `Opened: ${url}` : `Open it in a browser: ${url}`])
    },
  }),
]

async function openInBrowser(url: string): Promise<boolean> {
  const [program, ...args] = openerOf(process.platform)
  const opener = spawn(program, [...args, url], { stdio: 'ignore', detached: true })
  opener.unref()
  const ended = once(opener, 'exit').then(
    ([code]) => code === 0,
    () => false,
  )
  return Promise.race([ended, scheduler.wait(OPENING).then(() => true)])
}

function openerOf(platform: NodeJS.Platform): readonly [string, ...string[]] {
  if (platform === 'darwin') return ['open']
  // An empty title, since `start` uses the first quoted text as the title.
  return platform === 'win32' ? ['cmd', '/c', 'start', ''] : ['xdg-open']
}

export const stopCommands = [
  command({
    name: 'stop',
    description: 'End a running emulator: requests in flight finish, and the state is saved',
    options: [...CLIENT_OPTIONS, 'timeout'],
    run: async (invocation) => {
      const { options } = invocation
      const { process: stopping } = await controlOf(options)('POST /shutdown')
      const isLocal = isHere(stopping, thisHolder('').place)
      const deadline = elapsedTime() + options.timeout
      while (isLocal ? isRunning(stopping) : await responds(options)) {
        if (elapsedTime() > deadline) {
          const after = formatDuration(options.timeout)
          throw new CommandFailed(
            `${options.url} still runs after ${after}, as process ${stopping.pid}. Wait longer with --timeout, or end that process.`,
          )
        }
        await scheduler.wait(LOOK_AGAIN_AFTER)
      }
      return show(invocation, { stopped: options.url, pid: stopping.pid }, [`Stopped: ${options.url}`])
    },
  }),
]

async function responds(address: { readonly url: string }): Promise<boolean> {
  return controlOf(
    address,
    1_000,
  )('GET /health').then(
    () => true,
    () => false,
  )
}
