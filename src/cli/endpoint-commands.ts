import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ScenarioError } from '../adapters/scenarios/problem.ts'
import { stub } from '../core/scenarios/stub.ts'
import { workspaceService } from '../emulator/service.ts'
import { call } from '../terminal/call-command.ts'
import { CommandFailed, command, FAILED, OK } from '../terminal/command.ts'
import { freeText, PRINT_OPTIONS, START_OPTIONS, UsageError } from '../terminal/options.ts'
import { codeOf, linesOf, show } from '../terminal/print.ts'
import { readText } from '../terminal/text-file.ts'

const METHODS = stub().shape.method.options

export const endpointCommands = [
  call('endpoints', 'GET /endpoints', {
    description: 'List your own endpoints, and what is wrong with their files',
    lines: ({ data, problems, warnings }) => [
      ...linesOf({ data }, ['name', 'method', 'path', 'kind', 'place']),
      ...problems,
      ...warnings.map((warning) => `Warning: ${warning}`),
    ],
    code: ({ problems }) => (problems.length === 0 ? OK : FAILED),
  }),
  command({
    name: 'endpoints add',
    description: 'Write an endpoint of your own, with its schemas, into a new file of the folder',
    args: {
      '<method>': METHODS.join(', '),
      '<path>': 'its path after /v1, with {names} for parameters: /notes/{id}',
    },
    options: {
      from: freeText('file', 'OpenAPI document (3.0 or 3.1, JSON or YAML) with the endpoint'),
      endpoints: START_OPTIONS.endpoints,
      ...PRINT_OPTIONS,
    },
    run: async (invocation) => {
      const [given = '', path = ''] = invocation.args
      const method = METHODS.find((each) => each === given.toUpperCase())
      if (method === undefined)
        throw new UsageError([`<method>: "${given}" is not one of ${METHODS.join(', ')}.`])
      const { from, endpoints: folder } = invocation.options
      const source = from && { text: readText(from, 'Give the path of an OpenAPI document.'), file: from }
      const { scaffold } = await import('../endpoints/scaffold.ts')
      let file = folder
      try {
        const script = scaffold({ method, path }, workspaceService, source || undefined)
        file = join(folder, `${script.name}.ts`)
        mkdirSync(folder, { recursive: true })
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
