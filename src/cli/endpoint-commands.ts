import { call } from '../terminal/call-command.ts'
import { FAILED, OK } from '../terminal/command.ts'
import { table } from '../terminal/print.ts'

export const endpointCommands = [
  call('endpoints', 'GET /endpoints', {
    description: 'List your own endpoints, and what is wrong with their files',
    lines: ({ data, problems, warnings }) => [
      ...table(
        ['NAME', 'METHOD', 'PATH', 'KIND', 'PLACE'],
        data.map(({ name, method, path, kind, place }) => [name, method, path, kind, place]),
      ),
      ...problems,
      ...warnings.map((warning) => `Warning: ${warning}`),
    ],
    code: ({ problems }) => (problems.length === 0 ? OK : FAILED),
  }),
]
