import { call, isOn } from '../terminal/call-command.ts'
import { freeText, SHARED } from '../terminal/options.ts'
import { prettyLines } from '../terminal/print.ts'

const { secrets, stable } = SHARED

const COLLECTION = { '<collection>': 'such as pages; the command state lists them' }
const RECORD = { ...COLLECTION, '<id>': 'id of the record' }

export const stateCommands = [
  call('state', 'GET /collections', { description: 'List the collections, and how many records each has' }),
  call('state list', 'GET /state/{collection}', {
    description: 'List the records of a collection',
    args: COLLECTION,
    options: { secrets },
    query: (_, { secrets }) => ({ secrets: isOn(secrets) }),
  }),
  call('state get', 'GET /state/{collection}/{id}', {
    description: 'Show a record',
    args: RECORD,
    options: { secrets },
    query: (_, { secrets }) => ({ secrets: isOn(secrets) }),
    lines: prettyLines,
  }),
  call('state put', 'PUT /state/{collection}/{id}', {
    description: 'Create a record, or replace all its fields',
    args: { ...RECORD, '<record>': 'JSON in quotes, or the path of a JSON file' },
    body: 'record',
    lines: prettyLines,
  }),
  call('state patch', 'PATCH /state/{collection}/{id}', {
    description: 'Change fields of a record: null removes one',
    args: { ...RECORD, '<patch>': 'merge patch: JSON in quotes, or the path of a JSON file' },
    body: 'patch',
    lines: prettyLines,
  }),
  call('state delete', 'DELETE /state/{collection}/{id}', {
    description: 'Delete a record, and the future events about it',
    args: RECORD,
    lines: (_, { collection, id }) => [`${collection}/${id} deleted.`],
  }),
  call('state export', 'GET /state', {
    description: 'Write the whole state document into a file, or on stdout',
    args: { '[file]': 'JSON file to write; an existing one is replaced' },
    options: { secrets, stable },
    query: (_, { secrets, stable }) => ({ secrets: isOn(secrets), stable: isOn(stable) }),
    exports: (_, { file }) => [file, 'State'],
  }),
  call('record', 'GET /record', {
    description: 'Write what the sandbox has seen into a file that replay can repeat, or on stdout',
    options: {
      output: { ...freeText('file', 'file to write; an existing one is replaced', 'stdout'), short: '-o' },
    },
    exports: (_, __, { output }) => [output, 'Recording'],
  }),
  call('state import', 'PUT /state', {
    description: 'Replace the whole state by a document',
    args: { '<file>': 'JSON file, or JSON in quotes' },
    body: 'file',
  }),
]
