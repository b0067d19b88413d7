import { mkdirSync, writeFileSync } from 'node:fs'
import { ScenarioError } from '../adapters/scenarios/problem.ts'
import type { EndpointList } from '../server/control/routes/endpoints.ts'
import { call } from '../terminal/call-command.ts'
import { CommandFailed, command, FAILED, OK } from '../terminal/command.ts'
import type { Line } from '../terminal/line.ts'
import { UsageError } from '../terminal/options.ts'
import { codeOf, show, table } from '../terminal/print.ts'
import { readText } from '../terminal/text-file.ts'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

const listed = {
  lines: ({ data, problems, warnings }: EndpointList): Line[] => [
    ...table(
      ['NAME', 'METHOD', 'PATH', 'KIND', 'PLACE'],
      data.map(({ name, method, path, kind, place }) => [name, method, path, kind, place]),
    ),
    ...problems,
    ...warnings.map((warning) => `Warning: ${warning}`),
  ],
  code: ({ problems }: EndpointList) => (problems.length === 0 ? OK : FAILED),
}

export const endpointCommands = [
  call('endpoints', 'GET /endpoints', {
    description: 'List your own endpoints, and what is wrong with their files',
    ...listed,
  }),
  call('endpoints refresh', 'POST /endpoints', {
    description: 'Load changed files of endpoints at once',
    ...listed,
  }),
  command({
    name: 'endpoints add',
    description:
      'Write an endpoint of your own, with its schemas, into endpoints/; an existing file stays as it is',
    args: {
      '<method>': METHODS.join(', '),
      '<path>': 'its path after /v1, with {names} for parameters: /notes/{id}',
    },
    options: ['from', 'json', 'noColor'],
    run: async (invocation) => {
      const [given = '', path = ''] = invocation.args
      const method = METHODS.find((each) => each === given.toUpperCase())
      if (method === undefined)
        throw new UsageError([`<method>: "${given}" is not one of ${METHODS.join(', ')}.`])
      const { from } = invocation.options
      const text = from && readText(from, 'Give the path of an OpenAPI document.')
      const { scaffold } = await import('../endpoints/scaffold.ts')
      let file = 'endpoints'
      try {
        const script = scaffold({ method, path }, from && text ? { text, file: from } : undefined)
        file += `/${script.name.replaceAll(/[^\w.-]/g, '_')}.ts`
        mkdirSync('endpoints', { recursive: true })
        writeFileSync(file, script.text, { flag: 'wx' })
      } catch (error) {
        if (error instanceof ScenarioError) throw new CommandFailed(error.message)
        throw new CommandFailed(
          `${file} cannot be written (${codeOf(error)}). If it exists, rename it: it is not replaced.`,
        )
      }
      return show(invocation, { written: file }, [
        `${file} written. Change its response, then: workspace-emulator start`,
      ])
    },
  }),
]
