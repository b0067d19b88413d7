import type { Preset } from '../../core/faults/preset.ts'

/** Pages that lead a client who walks through them astray. */
export const listPresets: readonly Preset[] = [
  {
    name: 'page-empty-has-more',
    family: 'list',
    description: 'A page without rows that says there are more.',
    match: { operation: 'teamspace-users.list' },
    when: { nth: 1 },
    do: [{ body: { patch: { data: [], has_more: true } } }],
  },
  {
    name: 'page-cursor-deleted',
    family: 'list',
    description:
      'The user that the cursor names is deleted just before the next page is read. The page resumes from its place; with the setting lists.deleted_cursor at reject it is a 400.',
    match: { operation: 'teamspace-users.list', query: { after: '*' } },
    when: { nth: 1 },
    do: [{ state: { delete: { collection: 'users', id: { query: 'after' } } } }],
  },
  {
    name: 'null-for-array',
    family: 'body',
    description: 'A list whose data is null instead of an array.',
    match: { operation: 'teamspace-users.list' },
    when: { nth: 1 },
    do: [{ body: { nulls: ['/data'] } }],
  },
]
