import { callCommand } from './call-command.ts'
import { command, SANDBOX_OPTIONS } from './command.ts'
import { controlOf } from './control-client.ts'
import { exported } from './export.ts'
import { linesOf, prettyLines, show } from './print.ts'

const COLLECTION = { name: '<collection>', description: 'such as pages; the command state lists them' }
const RECORD = [COLLECTION, { name: '<id>', description: 'id of the record' }]
const FILE = { name: '<file>', description: 'JSON file, or JSON in quotes' }
const SECRETS = (_args: unknown, { secrets }: { readonly secrets: boolean }) =>
  secrets ? { secrets: 'true' as const } : {}

export const stateCommands = [
  command({
    name: 'state',
    description: 'List the collections, and how many records each has',
    options: SANDBOX_OPTIONS,
    run: async (invocation) => {
      const body = await controlOf(invocation.options)('GET /collections')
      return show(invocation, body, linesOf(body))
    },
  }),
  callCommand({
    name: 'state list',
    description: 'List the records of a collection',
    args: [COLLECTION],
    options: ['secrets'],
    route: 'GET /state/{collection}',
    query: SECRETS,
  }),
  callCommand({
    name: 'state schema',
    description: 'Show the JSON Schema of the records of a collection',
    args: [COLLECTION],
    route: 'GET /collections/{collection}',
    lines: prettyLines,
  }),
  callCommand({
    name: 'state get',
    description: 'Show a record',
    args: RECORD,
    options: ['secrets'],
    route: 'GET /state/{collection}/{id}',
    query: SECRETS,
    lines: prettyLines,
  }),
  callCommand({
    name: 'state put',
    description: 'Create a record, or replace all its fields',
    args: [...RECORD, { name: '<record>', description: 'JSON in quotes, or the path of a JSON file' }],
    route: 'PUT /state/{collection}/{id}',
    body: 'record',
    lines: prettyLines,
  }),
  callCommand({
    name: 'state patch',
    description: 'Change fields of a record: null removes one',
    args: [
      ...RECORD,
      { name: '<patch>', description: 'merge patch: JSON in quotes, or the path of a JSON file' },
    ],
    route: 'PATCH /state/{collection}/{id}',
    body: 'patch',
    lines: prettyLines,
  }),
  callCommand({
    name: 'state delete',
    description: 'Delete a record, and the future events about it',
    args: RECORD,
    route: 'DELETE /state/{collection}/{id}',
    lines: (_, { collection, id }) => [`${collection}/${id} deleted.`],
  }),
  command({
    name: 'state export',
    description: 'Write the whole state document into a file, or on stdout',
    args: [{ name: '[file]', description: 'JSON file to write; an existing one is replaced' }],
    options: [...SANDBOX_OPTIONS, 'secrets'],
    run: async (invocation) => {
      const { args, options } = invocation
      const document = await controlOf(options)('GET /state', { query: SECRETS(args, options) })
      return exported(invocation, document, args[0], 'State')
    },
  }),
  callCommand({
    name: 'state import',
    description: 'Replace the whole state by a document',
    args: [FILE],
    route: 'PUT /state',
    body: 'file',
  }),
  callCommand({
    name: 'state merge',
    description: 'Add the records of a fixtures document; one with a known id replaces that record',
    args: [FILE],
    route: 'POST /fixtures',
    body: 'file',
  }),
]
