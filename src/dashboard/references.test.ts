import { expect, test } from 'vitest'
import { collectionNamed, referencesIn } from './references.ts'

const collections = ['users', 'teamspaces', 'agents', 'mcp_servers', 'event_triggers', 'batch_predictions']

test.for([
  ['teamspace_id', 'teamspaces'],
  ['server_id', 'mcp_servers'],
  ['trigger_id', 'event_triggers'],
  ['user_ids', 'users'],
  ['id', undefined],
  ['custom_id', undefined],
  ['teamspace', undefined],
] as const)('the field %s refers to %s', ([field, collection]) => {
  expect(collectionNamed(field, collections)).toBe(collection)
})

test('a name that fits the ends of two collections refers to neither', () => {
  expect(collectionNamed('server_id', [...collections, 'file_servers'])).toBe(undefined)
})

test('references are found in objects and lists, each once', () => {
  const record = {
    id: 'page-1',
    teamspace_id: 'teamspace-harbor',
    user_id: null,
    ref: 'batch_predictions/b-1',
    _emulator: { teamspace_id: 'teamspace-harbor', user_ids: ['user-mara', 'user-noor'] },
  }
  expect(referencesIn(record, collections)).toEqual([
    { collection: 'teamspaces', id: 'teamspace-harbor' },
    { collection: 'batch_predictions', id: 'b-1' },
    { collection: 'users', id: 'user-mara' },
    { collection: 'users', id: 'user-noor' },
  ])
})
