import { expect, test } from 'vitest'
import { issuesOf } from '../../test/support/starting-states.ts'
import type { JsonObject } from '../core/json.ts'

const teamspace = {
  ...{ id: 'ts-a', cloud_provider: 'cloud_b', name: 'T', access: 'closed', created_at: '-1d' },
  _emulator: { organization_id: 'org-1' },
}

async function issuesWith(file: JsonObject): Promise<string[]> {
  const collections = { organizations: [{ id: 'org-1', name: 'O' }], teamspaces: [teamspace], files: [file] }
  return (await issuesOf({ collections })).map(({ pointer }) => pointer)
}

const file = { id: 'f', teamspace_id: 'ts-a', name: 'a.pdf', kind: 'pdf' }

test('a file needs only id, teamspace, name and kind', async () => {
  expect(await issuesWith(file)).toEqual([])
})

test.for<[string, object, string]>([
  ['of an unknown teamspace', { teamspace_id: 'ts-z' }, '/collections/files/0/teamspace_id'],
  ['without pages but paged', { pages: 0 }, '/collections/files/0/pages'],
  ['with half a page', { pages: 1.5 }, '/collections/files/0/pages'],
  ['without a kind', { kind: '' }, '/collections/files/0/kind'],
  ['with an unknown member', { size: 3 }, '/collections/files/0/size'],
])('a file %s is refused', async ([, change, pointer]) => {
  expect(await issuesWith({ ...file, ...change })).toEqual([pointer])
})
