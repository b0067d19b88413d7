import { text } from 'node:stream/consumers'
import { workspaceService } from '../emulator/service.ts'
import { controlRoutes } from '../server/control/routes/index.ts'
import { command, FAILED, OK } from '../terminal/command.ts'
import { type AnyCall, controlOf } from '../terminal/control-client.ts'
import { type JsonSource, jsonArgument, locatingIssues, readSource } from '../terminal/json-files.ts'
import { SANDBOX_OPTIONS, UsageError } from '../terminal/options.ts'
import { columns, prettyLines, show } from '../terminal/print.ts'

/** `call`: whatever the control interface can do, also where no command does it. */
export const callCommands = [
  command({
    name: 'call',
    options: SANDBOX_OPTIONS,
    description:
      'Make a call of the control interface, such as call GET /clock; without arguments, list all calls',
    args: {
      '[method]': 'GET, POST, PUT, PATCH or DELETE',
      '[path]': 'below /__emulator, with a query if needed; the first slash may be left out',
      '[json]': 'the body: JSON in quotes, the path of a JSON file, or - for JSON on standard input',
    },
    run: async (invocation) => {
      const [method, address, given] = invocation.args
      const routes = controlRoutes(workspaceService)
      if (method === undefined) {
        const data = routes.map(({ method, path, summary }) => ({ method, path, summary }))
        return show(invocation, { data }, columns(data.map((route) => Object.values(route))))
      }
      if (address === undefined)
        throw new UsageError(['<path>: is missing. Give one, such as call GET /clock.'])
      // Git Bash on Windows puts its own folder before a path that begins with a slash.
      const own = address.replace(/^[a-z]:[/\\](?:.*[/\\])?(?:git|msys\d*)[/\\]/i, '/')
      const [path = '', search] = own.replace(/^\/?(?:__emulator\/)?/, '/').split('?')
      if (routes.some(({ media, path: known }) => media === 'text/event-stream' && known === path))
        throw new UsageError([`${path} never ends. "workspace-emulator events --follow" prints it.`])
      const source = await bodyOf(given)
      const call = { query: Object.fromEntries(new URLSearchParams(search)), body: source?.value }
      // A parameter of the query is no flag of this command.
      const ask = controlOf(invocation.options, undefined, String) as AnyCall
      const called = ask(`${method.toUpperCase()} ${encodeURI(path)}`, call)
      const output = await locatingIssues(called, source?.file, 'The body is refused:')
      const isFailed = output instanceof Object && 'passed' in output && output.passed === false
      show(invocation, output ?? {}, output === undefined ? ['Done.'] : prettyLines(output))
      return isFailed ? FAILED : OK
    },
  }),
]

async function bodyOf(given: string | undefined): Promise<JsonSource | undefined> {
  if (given === undefined) return undefined
  if (given !== '-') return readSource('json', given, ', - for JSON on standard input')
  return { value: jsonArgument('<json>', await text(process.stdin)) }
}
