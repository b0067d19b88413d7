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

const OTHER = (file: string) => `demo, extended by ${file}`

test.for<[what: string, merged: string, own: string, line: number, at?: typeof OTHER, content?: string]>([
  ['an own record', '/collections/pages/1/name', '/collections/pages/1/name', 9],
  ['the organization', '/collections/organizations/0/name', '/organization/name', 3],
  ['a member of the document', '/colections', '/colections', 1],
  ['a count of records to generate', '/generate/pages', '/generate/pages', 1],
  ['a record beyond the own ones', '/collections/pages/2/name', '/collections/pages/2/name', 0, OTHER],
  ['another collection', '/collections/users/0', '/collections/users/0', 0, OTHER],
  ['another organization', '/collections/organizations/1', '/collections/organizations/1', 0, OTHER],
  [
    'any record of a document that extends none',
    '/collections/pages/0/name',
    '/collections/pages/0/name',
    1,
    (file) => file,
    '{"collections": {"pages": 1}}',
  ],
])('an issue with %s has its document and line', async ([, merged, own, line, at, content = SANDBOX]) => {
  const file = temporaryFile('sandbox.json', content)
  expect(await locateFixtures(file, [{ pointer: merged, detail: 'x' }])).toEqual([
    { file: at?.(file) ?? file, pointer: own, line, detail: 'x' },
  ])
})
