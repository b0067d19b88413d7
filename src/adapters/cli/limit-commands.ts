import type { OwnCalls } from '../control/client/ask.ts'
import { callCommand } from './call-command.ts'
import { numberArgument } from './options.ts'
import { linesOf } from './print.ts'

const OPERATION = { name: '<operation>', description: 'such as pages.create' }
const COLUMNS = ['operation', 'key', 'limit', 'window_s', 'used', 'remaining', 'reset_at']

export const limitCommands = [
  ...['limits', 'limits list'].map((name) =>
    callCommand({
      name,
      description: 'List the rate windows that hold requests, and the limits that differ from the default',
      route: 'GET /limits',
      lines: limitLines,
    }),
  ),
  callCommand({
    name: 'limits fill',
    description: 'Use up a rate window, so that the next request is refused',
    args: [OPERATION],
    options: ['remaining', 'teamspace'],
    route: 'POST /limits/{operation}/fill',
    body: (_, { remaining, teamspace }) => ({ remaining, teamspace_id: teamspace }),
    columns: COLUMNS,
  }),
  callCommand({
    name: 'limits set',
    description: 'Give an operation its own limit',
    args: [OPERATION, { name: '<limit>', description: 'requests in a window' }],
    options: ['window'],
    route: 'PUT /limits/{operation}',
    body: ({ limit }, { window }) => ({ limit: numberArgument('limit', limit), window_s: window / 1000 }),
  }),
  callCommand({
    name: 'limits clear',
    description: 'Empty the rate windows of an operation, or all; limits that were set stay',
    args: [{ name: '[operation]', description: OPERATION.description }],
    route: 'DELETE /limits',
    query: ({ operation }) => ({ operation }),
    lines: ({ removed }) => [
      removed.length === 0 ? 'No window held a request.' : `Emptied: ${removed.join(', ')}.`,
    ],
  }),
]

function limitLines({ data, overrides, enforced, clock }: OwnCalls['GET /limits']['output']): string[] {
  return [
    ...(data.length === 0 ? ['No window holds a request.'] : linesOf({ data }, COLUMNS)),
    ...overrides.map(({ operation, limit, window_s }) => `${operation}: ${limit} requests in ${window_s} s`),
    ...(enforced ? [] : ['Full windows do not refuse requests: the emulator was started with --limits off.']),
    ...(clock === 'wall' ? ['The windows use the real clock (setting limits.clock).'] : []),
  ]
}
