import * as z from 'zod'
import { refuse } from '../kernel/errors.ts'
import { successDelete, successRead } from '../kernel/open-items.ts'
import { operation, type Resource } from '../kernel/operation.ts'
import { conversations, mayConverse, messages } from './conversation-records.ts'
import { giveFeedback, uiSurfaces } from './message-feedback.ts'
import { opaqueList, opaqueListAnswer, refuseStrict } from './opaque.ts'

const listConversations = operation({
  name: 'conversations.list',
  method: 'GET',
  path: '/conversations',
  summary: 'List conversations',
  section: 'Endpoints named without a contract',
  dialect: 'standard',
  contract: false,
  success: successRead,
  answer: opaqueListAnswer,
  // What has_messages means is not shown: it is known, and changes nothing.
  input: () => ({ query: z.looseObject({ has_messages: z.unknown().optional() }) }),
  handle: (request) => {
    const { tx, caller, settings } = request
    refuseStrict(settings, 'conversations.list')
    const visible = tx.in(conversations).filter((each) => mayConverse(caller, each))
    return { body: { ...opaqueList(visible, request), has_more: false } }
  },
})

const deleteConversation = operation({
  name: 'conversations.delete',
  method: 'DELETE',
  path: '/conversations/{conversation_id}',
  summary: 'Delete a conversation that is not the root of a channel',
  section: 'Endpoints named without a contract',
  dialect: 'standard',
  contract: false,
  success: successDelete,
  find: ({ tx, caller, params }) => {
    const { conversation_id = '' } = params
    const conversation = tx.in(conversations).get(conversation_id)
    if (conversation !== undefined && mayConverse(caller, conversation)) return conversation
    const detail = `There is no conversation with the id "${conversation_id}".`
    return refuse('not_found', { detail, status: 404 })
  },
  handle: ({ tx, target, settings, note }) => {
    if (target._emulator.root) {
      refuse('root_conversation', {
        detail: `The conversation "${target.id}" is the root of a channel and cannot be deleted.`,
        mitigation: 'Delete conversations inside the channel instead.',
      })
    }
    refuseStrict(settings, 'conversations.delete')
    note('U044')
    for (const { id } of tx.in(messages).filter(({ _emulator }) => _emulator.conversation_id === target.id))
      tx.in(messages).delete(id)
    tx.in(conversations).delete(target.id)
    return { body: {} }
  },
})

export const conversationsRoom: Resource = {
  name: 'conversations',
  operations: [giveFeedback, listConversations, deleteConversation],
  collections: [conversations, messages],
  assumptions: {
    items: [
      {
        id: 'U034',
        open: 'How consent to data sharing is given, and what donating a trace looks like.',
        reading:
          'A fact of the conversation; the feedback kept with the message says whether it donated. Nothing leaves the machine, and no answer rests on it.',
        shows: 'nowhere',
      },
      {
        id: 'U044',
        open: 'What deleting a conversation that is not a root answers.',
        reading: 'The conversation and its messages go, with the status of deletions; under --strict a 501.',
        shows: 'answer',
      },
      {
        id: 'T33',
        open: 'What feedback on an id that ends in -user addresses.',
        reading:
          'The message of that UUID, which takes no feedback under that name: 400. Other forms address the stored message. The ids themselves leave no choice, so no answer is marked.',
        shows: 'nowhere',
      },
      {
        id: 'T34',
        open: 'Which fault of a feedback request is told first.',
        reading:
          'A malformed id, then a message that is missing or hidden, then its kind, then the body: so nobody learns the kind of a hidden message. Each answer is specified, only their order is not.',
        shows: 'nowhere',
      },
      {
        id: 'T40',
        open: 'What the root conversation of a channel is.',
        reading:
          'A fact that the fixtures give a conversation: channels are no resource of the specification, and the 400 itself is specified.',
        shows: 'nowhere',
      },
    ],
    settings: [uiSurfaces],
  },
}
