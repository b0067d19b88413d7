import { SECOND } from '../core/time/instant.ts'
import { option } from '../emulator/option.ts'
import { limitDraft, limitFill } from '../server/control/routes/limits.ts'
import { call } from '../terminal/call-command.ts'
import { argumentOf, freeText, kinds, numberIn } from '../terminal/options.ts'
import { linesOf } from '../terminal/print.ts'

const OPERATION = { '<operation>': 'such as pages.create' }
const LIMIT = numberIn(limitDraft().shape.limit)
const COLUMNS = ['operation', 'key', 'limit', 'window_s', 'used', 'remaining', 'reset_at']

export const limitCommands = [
  call('limits list', 'GET /limits', {
    description: 'List the rate windows that hold requests, and the limits that differ from the default',
    lines: ({ data, overrides, enforced, clock }) => [
      ...linesOf({ data }, COLUMNS, 'No window holds a request.'),
      ...overrides.map(
        ({ operation, limit, window_s }) => `${operation}: ${limit} requests in ${window_s} s`,
      ),
      ...(enforced
        ? []
        : ['Full windows do not refuse requests: the emulator was started with --limits off.']),
      ...(clock === 'wall' ? ['The windows use the real clock (setting limits.clock).'] : []),
    ],
  }),
  call('limits fill', 'POST /limits/{operation}/fill', {
    description: 'Use up a rate window, so that the next request is refused',
    args: OPERATION,
    options: {
      remaining: option(numberIn(limitFill().shape.remaining), 0, {
        description: 'number of requests that the window still admits',
      }),
      teamspace: freeText('id', 'teamspace whose window is used up', 'all'),
    },
    body: (_, { remaining, teamspace }) => ({ remaining, teamspace_id: teamspace }),
    columns: COLUMNS,
  }),
  call('limits set', 'PUT /limits/{operation}', {
    description: 'Give an operation its own limit',
    args: { ...OPERATION, '<limit>': 'requests in a window' },
    options: {
      window: option(kinds.duration, 60 * SECOND, { shown: '60s', description: 'length of the window' }),
    },
    body: ({ limit }, { window }) => ({ limit: argumentOf('limit', LIMIT, limit), window_s: window / 1000 }),
  }),
  call('limits clear', 'DELETE /limits', {
    description: 'Empty the rate windows of an operation, or all; limits that were set stay',
    args: { '[operation]': OPERATION['<operation>'] },
    query: ({ operation }) => ({ operation }),
    lines: ({ removed }) => [
      removed.length === 0 ? 'No window held a request.' : `Emptied: ${removed.join(', ')}.`,
    ],
  }),
]
