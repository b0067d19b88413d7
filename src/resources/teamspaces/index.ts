import type { Resource } from '../../core/service.ts'
import { authorize, joinTeamspace, selfJoined, serviceManagers, teamspaceRecordFaults } from './access.ts'
import { cloudA, cloudB, memberships, teamspaces, users } from './schema.ts'
import { createTeamspace, defaultAccess, nameRequired, updateTeamspace } from './teamspaces.ts'
import { deleteUser, listUsers, searchMode } from './users.ts'

export const teamspacesResource: Resource = {
  name: 'teamspaces',
  operations: [updateTeamspace, createTeamspace, listUsers, deleteUser],
  collections: [teamspaces, users, memberships],
  controls: [joinTeamspace],
  authorize,
  recordFaults: teamspaceRecordFaults,
  assumptions: {
    items: [
      {
        id: 'U003',
        open: 'How a user joins a teamspace, and which operations are conversing.',
        decision:
          'Through the control API or a membership with self_joined; such a user may call the operations named converse.* and no other; a setting names others.',
        reportedIn: 'response',
      },
      {
        id: 'U004',
        open: 'Which roles there are besides owner.',
        decision:
          'Any string: roles come from the fixtures, and no rule depends on one, so no response depends on it.',
        reportedIn: 'nowhere',
        unnamed: 'No rule depends on a role, so no response does.',
      },
      {
        id: 'U009',
        open: 'The identifiers of the two clouds and of the surfaces that feedback comes from.',
        decision: 'Placeholders, until settings supply the real ones.',
        reportedIn: 'response',
      },
      {
        id: 'U021',
        open: 'How search finds users.',
        decision:
          'A literal part, in any letter case, of the first name, the last name, both with a space between, or the address.',
        reportedIn: 'response',
      },
      {
        id: 'U024',
        open: 'The access of a teamspace that is created without one.',
        decision: 'closed, so that no user can join without approval.',
        reportedIn: 'response',
      },
      {
        id: 'U078',
        open: 'Who manages a teamspace that a service key has created, which has no member.',
        decision:
          'The key itself, and account admins of its organization unless a setting excludes them. A membership is written through the control API.',
        reportedIn: 'response',
      },
      {
        id: 'T01',
        open: 'Whether teamspaces, teamspace users and agent templates carry object, as most resources do.',
        decision:
          'No: their tables list every field, object is not among them, and nothing is left to choose.',
        reportedIn: 'nowhere',
        unnamed: 'The tables of the specification decide it.',
      },
    ],
    settings: [cloudA, cloudB, defaultAccess, nameRequired, searchMode, selfJoined, serviceManagers],
  },
}
