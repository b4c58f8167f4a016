import { describeProgram } from './contract.ts';
import { claudeCode } from './programs.ts';

describeProgram(claudeCode);
