/** Where a broker tells what happens. Facts never hold values of variables, arguments or results. */
export interface BrokerLog {
  debug(facts: LogFacts, message: string): void
  info(facts: LogFacts, message: string): void
  warn(facts: LogFacts, message: string): void
}

export type LogFacts = Readonly<Record<string, unknown>>
