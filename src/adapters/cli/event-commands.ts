import type { OwnCalls } from '../control/client/ask.ts'
import { callCommand } from './call-command.ts'
import { eventLine } from './clock-commands.ts'
import { command, SANDBOX_OPTIONS } from './command.ts'
import { controlOf } from './control-client.ts'
import type { FollowedEvent } from './follow.ts'
import { jsonArgument } from './json-files.ts'
import { harmless, show } from './print.ts'

export const eventsCommands = [
  command({
    name: 'events',
    description:
      'List the future events of the virtual clock; with --follow print events as they happen until Ctrl-C',
    options: [...SANDBOX_OPTIONS, 'follow', 'type'],
    run: async (invocation) => {
      const { options, terminal } = invocation
      if (options.follow) {
        const { follow, typesOf } = await import('./follow.ts')
        return follow(invocation, { types: typesOf(options.type) }, (event) => {
          if (options.json) terminal.out(JSON.stringify(event))
          else for (const line of happened(event)) terminal.out(harmless(line))
        })
      }
      const body = await controlOf(options)('GET /clock/horizon')
      return show(invocation, body, scheduled(body))
    },
  }),
]

export const eventCommands = [
  callCommand({
    name: 'event',
    description: 'List the future events of the virtual clock, the same as events alone',
    route: 'GET /clock/horizon',
    lines: scheduled,
  }),
  callCommand({
    name: 'event emit',
    description: 'Emit an event of a provider, and show which triggers fire and why others do not',
    args: [
      { name: '<source>', description: 'the provider' },
      { name: '<event>', description: 'name of the event' },
      { name: '[payload]', description: 'JSON object in quotes' },
    ],
    route: 'POST /provider-events',
    body: ({ source, event, payload }) => ({ source, event, payload: jsonArgument('payload', payload) }),
  }),
]

function scheduled({ data }: OwnCalls['GET /clock/horizon']['output']): string[] {
  return data.length === 0 ? ['Nothing is due.'] : data.map((event) => eventLine(event).trim())
}

/** An event of the stream on one line. Events about the stream itself (`hello`, `dropped`, `end`) have no line. */
function happened({ type, data }: FollowedEvent): string[] {
  switch (type) {
    case 'request':
      return [
        `${data.at}  ${data.status === 0 ? 'cut' : data.status}  ${data.method} ${data.path}  ${data.id}`,
      ]
    case 'event':
    case 'delivery':
      return [eventLine(data).trim()]
    case 'transition':
      return [`${data.at}  ${data.ref} ${data.from ?? 'new'} to ${data.to ?? 'removed'}`]
    case 'clock':
      return [`${data.now}  clock ${data.rate === 0 ? 'frozen' : `rate ${data.rate}`}`]
    case 'scenario':
      return [`${data.at}  scenario ${data.active ?? 'stopped'}`]
    case 'sandbox':
      return [`${data.now}  state replaced, revision ${data.revision}`]
    default:
      return []
  }
}
