import type { Command } from 'commander'
import { longNumber, type OfOrganization, organizationOption } from './options.ts'
import { perform, type Shell, type Task } from './perform.ts'

type Caller = ReturnType<Task['by']>

/** The options of a command that decides: those that every one has, and what the decision says. */
export interface DecisionOptions extends OfOrganization {
  readonly note?: string
  readonly reason?: string
}

/** The words and the work of the decisions about one kind of thing that waits. */
export interface Decided<Thing> {
  get(task: Task, caller: Caller, id: bigint): Promise<Thing>
  /** Returns the words that name the thing in the question before the decision. */
  nameOf(thing: Thing): string
  viewOf(thing: Thing, zone: string): object
  /** Returns the sentence that says what became of the thing. */
  endOf(thing: Thing): string
}

/** Does what was decided of the thing with the id. */
export type Decide<Thing> = (
  task: Task,
  caller: Caller,
  asked: { readonly id: bigint } & Pick<DecisionOptions, 'note' | 'reason'>,
) => Promise<Thing>

/** Returns the maker of commands that decide about one thing that waits, after a question to the operator. */
export const decisionCommand =
  <Thing>(group: Command, shell: Shell, { get, nameOf, viewOf, endOf }: Decided<Thing>) =>
  (name: string, description: string, decide: Decide<Thing>): Command =>
    group
      .command(name)
      .description(description)
      .argument('<id>', 'its number', longNumber)
      .addOption(organizationOption())
      .action((id: bigint, { organization: given, ...said }: DecisionOptions, command: Command) =>
        perform(shell, command, async (task) => {
          const { deps, printer, by, organization, confirm } = task
          const caller = by((await organization(given)).id)
          await confirm(`${name} ${nameOf(await get(task, caller, id))}?`)
          const decided = await decide(task, caller, { id, ...said })
          printer.done(viewOf(decided, deps.config.zone), endOf(decided))
        }),
      )
