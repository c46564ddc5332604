// SPDX-License-Identifier: Apache-2.0
#include "../base/log.h"
#include "cmd.h"

bool cmd_common_option(int option)
{
	if (option != 'v' && option != 'q')
		return false;
	log_set_level(option == 'v' ? LOG_VERBOSE : LOG_QUIET);
	return true;
}
