import { inResponse, unnamedItem } from '../../core/assumptions.ts'
import type { Resource } from '../../core/service.ts'
import { authorize, joinTeamspace, memberMove, selfJoined, serviceManagers } from './access.ts'
import { cloudA, cloudB, memberships, nameRequired, teamspaces, users } from './schema.ts'
import { createTeamspace, defaultAccess, updateTeamspace } from './teamspaces.ts'
import { deleteUser, listUsers, searchMode } from './users.ts'

export const teamspacesResource: Resource = {
  name: 'teamspaces',
  operations: [updateTeamspace, createTeamspace, listUsers, deleteUser],
  collections: [teamspaces, users, memberships],
  controls: [joinTeamspace],
  authorize,
  recordFaults: [memberMove],
  assumptions: {
    items: [
      inResponse(
        'U003',
        'How a user joins a teamspace, and which operations are conversing.',
        'Through the control API or a membership with self_joined; such a user may call the operations named converse.* and no other; a setting names others.',
      ),
      unnamedItem(
        'U004',
        'Which roles there are besides owner.',
        'Any string: roles come from the fixtures, and no rule depends on one, so no response depends on it.',
        'No rule depends on a role, so no response does.',
      ),
      inResponse(
        'U009',
        'The identifiers of the two clouds and of the surfaces that feedback comes from.',
        'Placeholders, until settings supply the real ones.',
      ),
      inResponse(
        'U021',
        'How search finds users.',
        'A literal part, in any letter case, of the first name, the last name, both with a space between, or the address.',
      ),
      inResponse(
        'U024',
        'The access of a teamspace that is created without one.',
        'closed, so that no user can join without approval.',
      ),
      inResponse(
        'U078',
        'Who manages a teamspace that a service key has created, which has no member.',
        'The key itself, and account admins of its organization unless a setting excludes them. A membership is written through the control API.',
      ),
      unnamedItem(
        'T01',
        'Whether teamspaces, teamspace users and agent templates carry object, as most resources do.',
        'No: their tables list every field, object is not among them, and nothing is left to choose.',
        'The tables of the specification decide it.',
      ),
    ],
    settings: [cloudA, cloudB, defaultAccess, nameRequired, searchMode, selfJoined, serviceManagers],
  },
}
