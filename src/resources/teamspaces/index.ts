import type { Resource } from '../../kernel/operation.ts'
import { authorize } from './access.ts'
import { joinTeamspace } from './join.ts'
import { teamspaceMoves } from './moves.ts'
import { listPresets } from './presets.ts'
import { cloudA, cloudB, memberships, teamspaces, users } from './schema.ts'
import { createTeamspace, defaultAccess, nameRequired, updateTeamspace } from './teamspaces.ts'
import { deleteUser, listUsers, searchMode } from './users.ts'

export const teamspacesRoom: Resource = {
  name: 'teamspaces',
  operations: [updateTeamspace, createTeamspace, listUsers, deleteUser],
  collections: [teamspaces, users, memberships],
  controls: [joinTeamspace],
  authorize,
  moves: teamspaceMoves,
  presets: listPresets,
  assumptions: {
    items: [
      {
        id: 'U003',
        open: 'How a user joins a teamspace, and which operations are conversing.',
        reading:
          'Through the control API or a membership with self_joined; such a user may call the operations named converse.* and no other.',
        shows: 'answer',
      },
      {
        id: 'U004',
        open: 'Which roles there are besides owner.',
        reading:
          'Any string: roles come from the fixtures, and no rule depends on one, so no answer rests on it.',
        shows: 'nowhere',
      },
      {
        id: 'U009',
        open: 'The identifiers of the two clouds and of the surfaces that feedback comes from.',
        reading: 'Placeholders, until settings supply the real ones.',
        shows: 'answer',
      },
      {
        id: 'U021',
        open: 'How search finds users.',
        reading:
          'A literal part, in any letter case, of the first name, the last name, both with a space between, or the address.',
        shows: 'answer',
      },
      {
        id: 'U024',
        open: 'The access of a teamspace that is created without one.',
        reading: 'closed, the choice that admits nobody.',
        shows: 'answer',
      },
      {
        id: 'T01',
        open: 'Whether teamspaces, teamspace users and agent templates carry object, as most resources do.',
        reading:
          'No: their tables list every member, object is not among them, and nothing is left to choose.',
        shows: 'nowhere',
      },
    ],
    settings: [cloudA, cloudB, defaultAccess, nameRequired, searchMode],
  },
}
