import { expect, test } from 'vitest'
import { temporaryFile } from '../../test/cli/in-process.ts'
import { locateFixtures } from '../terminal/json-files.ts'

const SANDBOX = `{
  "extends": "demo",
  "organization": {
    "id": "org-1"
  },
  "collections": {
    "pages": [
      { "id": "p-1" },
      { "id": "p-2" }
    ]
  }
}
`

test.for([
  ['an own record', '/collections/pages/1/name', '/collections/pages/1/name', 9],
  ['the organization', '/collections/organizations/0/name', '/organization/name', 3],
  ['a member of the document', '/colections', '/colections', 1],
  ['a count of records to generate', '/generate/pages', '/generate/pages', 1],
] as const)('an issue with %s has its line in the document', async ([, merged, own, line]) => {
  const file = stateFile()
  expect(await locateFixtures(file, [{ pointer: merged, detail: 'x' }])).toEqual([
    { file, pointer: own, line, detail: 'x' },
  ])
})

test.for(['/collections/pages/2/name', '/collections/users/0', '/collections/organizations/1'])(
  'an issue at %s is in the document that is extended',
  async (pointer) => {
    const file = stateFile()
    expect(await locateFixtures(file, [{ pointer, detail: 'x' }])).toEqual([
      { file: `demo, extended by ${file}`, pointer, line: 0, detail: 'x' },
    ])
  },
)

test('without extends, an issue of any record has its line in the document', async () => {
  const file = stateFile('{"collections": {"pages": 1}}')
  const pointer = '/collections/pages/0/name'
  expect(await locateFixtures(file, [{ pointer, detail: 'x' }])).toMatchObject([{ file, pointer, line: 1 }])
})

const stateFile = (content = SANDBOX) => temporaryFile('sandbox.json', content)
