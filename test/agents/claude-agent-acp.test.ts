import { describeProgram } from './contract.ts';
import { claudeAgentAcp } from './programs.ts';

describeProgram(claudeAgentAcp);
